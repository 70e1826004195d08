import { createHash } from 'node:crypto'
import type { GuardAnswer, GuardRequest } from '@remit/contract'
import type { Caller } from '../http/caller.ts'
import { canonicalJson } from '../json/canonical-json.ts'

/** What a check is remembered by: the verdict and a hash, never the text. */
export interface GuardCheckMade {
  readonly agentId: string | null
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
 * Told of every check whose verdict is not a plain allow, before it is answered. One that throws a
 * `Failure` becomes the answer: what must be recorded and was not, has not happened.
 */
export interface GuardChecks {
  made(caller: Caller, check: GuardCheckMade): Promise<void>
}

/** What there is to remember of a check; null for a plain allow. */
export function checkMade(request: GuardRequest, answer: GuardAnswer): GuardCheckMade | null {
  const { action, flagged, score, threshold, reasons, model } = answer
  if (action === 'allow' && !flagged) return null
  const { agent_id, source, direction, content, messages } = request
  const hashed = content ?? canonicalJson(messages)
  return {
    agentId: agent_id ?? null,
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
