import type { GuardCheck, GuardMessage, GuardRequest, GuardSource } from '@remit/contract'

/** How one text is to be read. */
export interface Reading {
  readonly source: GuardSource
  readonly direction: 'input' | 'output'
  readonly checks: ReadonlySet<GuardCheck>
}

const EVERYTHING: readonly GuardCheck[] = ['injection', 'secrets', 'pii', 'invisible', 'canary']
// Seven in ten real system prompts look like attacks, so they are not read for them.
const OF_SYSTEM: readonly GuardCheck[] = ['secrets', 'invisible', 'canary']
// A system message is where a canary is planted.
const OF_SYSTEM_MESSAGE: readonly GuardCheck[] = ['secrets', 'invisible']
const OF_ASSISTANT_MESSAGE: readonly GuardCheck[] = ['secrets', 'canary']

/** How the `content` of a request is read. */
export function readingOfContent({ source, direction, checks }: GuardRequest): Reading {
  const byDefault = source === 'system' ? OF_SYSTEM : EVERYTHING
  return { source, direction, checks: new Set(checks ?? byDefault) }
}

/** How one of a request's `messages` is read: its role says where it comes from. */
export function readingOfMessage(request: GuardRequest, { role }: GuardMessage): Reading {
  const { source, direction, byDefault } = byRole(request)[role]
  return { source, direction, checks: new Set(request.checks ?? byDefault) }
}

interface RoleReading extends Pick<Reading, 'source' | 'direction'> {
  readonly byDefault: readonly GuardCheck[]
}

function byRole(request: GuardRequest): Record<GuardMessage['role'], RoleReading> {
  // Under `output` the answers are what is checked; otherwise they are history.
  const ofAssistant = request.direction === 'output' ? EVERYTHING : OF_ASSISTANT_MESSAGE
  const system: RoleReading = { source: 'system', direction: 'input', byDefault: OF_SYSTEM_MESSAGE }
  return {
    system,
    developer: system,
    user: { source: request.source, direction: 'input', byDefault: EVERYTHING },
    assistant: { source: 'user', direction: 'output', byDefault: ofAssistant },
    tool: { source: 'tool', direction: 'input', byDefault: EVERYTHING },
  }
}

/** From which score on a text is flagged, and blocked. */
export interface Thresholds {
  readonly flag: number
  readonly block: number
}

const BY_SENSITIVITY: Readonly<Record<GuardRequest['sensitivity'], Thresholds>> = {
  low: { flag: 0.65, block: 0.9 },
  balanced: { flag: 0.5, block: 0.8 },
  high: { flag: 0.35, block: 0.65 },
}

/** A given threshold flags; nothing is blocked below it. */
export function thresholdsOf({ sensitivity, threshold }: GuardRequest): Thresholds {
  const { flag, block } = BY_SENSITIVITY[sensitivity]
  return { flag: threshold ?? flag, block: Math.max(block, threshold ?? 0) }
}
