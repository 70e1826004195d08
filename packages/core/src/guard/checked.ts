import { createHash } from 'node:crypto'
import type { GuardAnswer, GuardRequest } from '@remit/contract'
import type { Caller } from '../caller/caller.ts'
import { ownAgent } from '../caller/caller.ts'
import { canonicalJson } from '@remit/contract/json'

/** The record of a check: the verdict and a hash, never the text. */
export interface GuardCheckMade {
  readonly agentId: string | null
  /** `context.session_id` and `context.request_id` of decisions. */
  readonly sessionId?: string
  readonly requestId?: string
  readonly action: GuardAnswer['action']
  readonly flagged: boolean
  readonly score: number
  readonly threshold: number
  readonly reasons: readonly string[]
  readonly source: GuardRequest['source']
  readonly direction: GuardRequest['direction']
  readonly model: GuardAnswer['model']
  /**
   * Lower-case hex of SHA-256 over the UTF-8 of `content`, or over the canonical JSON (RFC 8785) of
   * `messages`.
   */
  readonly contentHash: string
}

/**
 * Observes every check. `made` is called with a verdict other than a plain allow before the
 * response; a `Failure` that it throws becomes the response, because an unrecorded check must not
 * count. `passed` is called with plain allows, which are only counted.
 */
export interface GuardChecks {
  made(caller: Caller, check: GuardCheckMade): Promise<void>
  passed?(orgId: string, agentId: string | null): void
}

/** Returns the agent of a text: a credential always checks for its own agent. */
export const checkedAgent = (caller: Caller, { agent_id }: GuardRequest): string | null =>
  ownAgent(caller) ?? agent_id ?? null

/** Returns the record of a check; null for a plain allow. */
export function checkMade(
  agentId: string | null,
  request: GuardRequest,
  answer: GuardAnswer,
): GuardCheckMade | null {
  const { action, flagged, score, threshold, reasons, model } = answer
  if (action === 'allow' && !flagged) return null
  const { session_id, request_id, source, direction, content, messages } = request
  const hashed = content ?? canonicalJson(messages)
  return {
    agentId,
    ...(session_id !== undefined && { sessionId: session_id }),
    ...(request_id !== undefined && { requestId: request_id }),
    action,
    flagged,
    score,
    threshold,
    reasons,
    source,
    direction,
    model,
    contentHash: createHash('sha256').update(hashed, 'utf8').digest('hex'),
  }
}
