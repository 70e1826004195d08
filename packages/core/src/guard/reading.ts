import type { GuardCheck, GuardMessage, GuardRequest, GuardSource } from '@remit/contract'

/** The options for the check of one text. */
export interface Reading {
  readonly source: GuardSource
  readonly direction: 'input' | 'output'
  readonly checks: ReadonlySet<GuardCheck>
}

const EVERYTHING: readonly GuardCheck[] = ['injection', 'secrets', 'pii', 'invisible', 'canary']
// Seven in ten real system prompts look like attacks, so they are not checked for them.
const OF_SYSTEM: readonly GuardCheck[] = ['secrets', 'invisible', 'canary']
// System messages contain the canaries themselves.
const OF_SYSTEM_MESSAGE: readonly GuardCheck[] = ['secrets', 'invisible']
const OF_ASSISTANT_MESSAGE: readonly GuardCheck[] = ['secrets', 'canary']

/** A text of a request; `index` and `role` for messages. */
export interface TextToCheck {
  readonly text: string
  readonly reading: Reading
  readonly index?: number
  readonly role?: string
}

export function textsOf(request: GuardRequest): TextToCheck[] {
  const { content, messages = [] } = request
  return content === undefined
    ? messages.map((message, index) => ({
        text: message.content,
        reading: readingOfMessage(request, message),
        index,
        role: message.role,
      }))
    : [{ text: content, reading: readingOfContent(request) }]
}

function readingOfContent({ source, direction, checks }: GuardRequest): Reading {
  const byDefault = source === 'system' ? OF_SYSTEM : EVERYTHING
  return { source, direction, checks: new Set(checks ?? byDefault) }
}

/** Returns the options for one of the `messages`: its role determines its source. */
function readingOfMessage(request: GuardRequest, { role }: GuardMessage): Reading {
  const { source, direction, byDefault } = byRole(request)[role]
  return { source, direction, checks: new Set(request.checks ?? byDefault) }
}

interface RoleReading extends Pick<Reading, 'source' | 'direction'> {
  readonly byDefault: readonly GuardCheck[]
}

function byRole(request: GuardRequest): Record<GuardMessage['role'], RoleReading> {
  // With `output`, the answers of the model are checked; otherwise they are history.
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

/** The scores from which a text is flagged, and blocked. */
export interface Thresholds {
  readonly flag: number
  readonly block: number
}

const BY_SENSITIVITY: Readonly<Record<GuardRequest['sensitivity'], Thresholds>> = {
  low: { flag: 0.65, block: 0.9 },
  balanced: { flag: 0.5, block: 0.8 },
  high: { flag: 0.35, block: 0.65 },
}

/** A threshold of the request sets the flag score; scores below it are never blocked. */
export function thresholdsOf({ sensitivity, threshold }: GuardRequest): Thresholds {
  const { flag, block } = BY_SENSITIVITY[sensitivity]
  return { flag: threshold ?? flag, block: Math.max(block, threshold ?? 0) }
}
