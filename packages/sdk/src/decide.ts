import { RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { approvalStatus } from './approval.ts'
import { ask } from './ask.ts'
import type { Answer, Limits } from './ask.ts'
import { decisionKey } from './key.ts'
import type { Step } from './key.ts'
import type { AuthorizeRequest } from './mapping.ts'
import { deny } from './verdict.ts'
import type { Deny, Pending, Verdict } from './verdict.ts'

/** The behavior while a call needs an approval. */
export type ApprovalMode =
  /** Wait up to `maxMs`, then answer `pending`. */
  | { readonly mode: 'wait'; readonly maxMs: number }
  /** Answer `pending` at once; the host asks again when it resumes. */
  | { readonly mode: 'return' }
  /** Deny at once, and name the approval. */
  | { readonly mode: 'refuse' }

const MODES = ['wait', 'return', 'refuse']

/** Refuses a mode with a mistake, which would wait for another time than it says. Throws `TypeError`. */
export function checkApproval(approval: ApprovalMode): void {
  const { mode, maxMs, ...others } = approval as { mode?: unknown; maxMs?: unknown }
  if (!MODES.includes(mode as string))
    throw new TypeError(`approval.mode must be one of ${MODES.join(', ')}`)
  const unknown = Object.keys(others)[0] ?? (mode !== 'wait' && 'maxMs' in approval ? 'maxMs' : '')
  if (unknown !== '')
    throw new TypeError(`approval.${unknown} is unknown with mode ${String(mode)}`)
  if (mode === 'wait' && !(typeof maxMs === 'number' && maxMs >= 0))
    throw new TypeError('approval.maxMs must be a number of milliseconds')
}

export interface DecideOptions extends Limits {
  /** The idempotency key of the first question. */
  readonly key: string
  readonly approval: ApprovalMode
  readonly traceparent?: string
}

type Asked = Extract<Answer, { kind: 'pending' }>

/** One step of a run, ready to be asked about. */
export interface Prepared {
  readonly request: AuthorizeRequest
  /** The request as JSON (RFC 8785). */
  readonly text: string
  readonly step: Step
}

/** The verdict on one step: asks, follows an approval, and asks again with the identical request. */
export async function decide(
  client: Client,
  { request, text, step }: Prepared,
  options: DecideOptions,
): Promise<Verdict> {
  const { approval, signal, traceparent } = options
  const deadline = Date.now() + (approval.mode === 'wait' ? approval.maxMs : 0)
  const followed = new Set<string>()
  for (let approvalId: string | null = null; ;) {
    const key = approvalId === null ? options.key : await decisionKey(step, approvalId)
    const question = { request, text, key, ...(traceparent !== undefined && { traceparent }) }
    const answer = await ask(client, question, options)
    if (answer.kind !== 'pending') return verdictOf(answer, step.call, request.action, approvalId)
    const pending = pendingOf(answer, step.call)
    if (approval.mode === 'refuse') return refusedFor(pending)
    if (followed.has(pending.approvalId)) return pending
    approvalId = pending.approvalId
    followed.add(approvalId)
    try {
      const left = Math.max(0, deadline - Date.now())
      const { status, comment } = await approvalStatus(client, approvalId, left, signal)
      if (status === 'pending') return pending
      if (status !== 'approved') return closed(status, pending, comment)
    } catch (error) {
      if (!(error instanceof RemitError)) throw error
      return unknownStatus(error, pending)
    }
  }
}

function verdictOf(
  answer: Exclude<Answer, Asked>,
  callId: string,
  action: string,
  approvalId: string | null,
): Verdict {
  if (answer.kind === 'failed') {
    const what = answer.reason === 'remit_refused' ? 'refused the request' : 'could not be asked'
    return deny(callId, answer.reason, `Remit ${what}: ${answer.detail}`)
  }
  const { decision_id: decisionId, reason, message, approval_id: used } = answer.body
  if (answer.kind === 'already_decided') return alreadyDecided(callId, decisionId)
  if (answer.decision === 'deny') return { kind: 'deny', reason, message, callId, decisionId }
  return { kind: 'allow', decisionId, callId, action, reason, approvalId: used ?? approvalId }
}

export const alreadyDecided = (callId: string, decisionId: string | null): Deny =>
  deny(
    callId,
    'already_decided',
    'This call was allowed before and may have run; it needs a new call id to run again.',
    decisionId,
  )

const pendingOf = ({ approval, body }: Asked, callId: string): Pending => ({
  kind: 'pending',
  approvalId: approval.id,
  until: approval.expires_at,
  message: body.message,
  callId,
  decisionId: body.decision_id,
})

const refusedFor = ({ callId, approvalId, message, decisionId }: Pending): Deny => ({
  kind: 'deny',
  reason: 'approval_required',
  message: `${message} (approval ${approvalId})`,
  callId,
  decisionId,
})

function closed(
  status: 'consumed' | 'rejected' | 'expired' | 'cancelled' | 'revoked',
  { callId, approvalId, decisionId }: Pending,
  comment: string | null,
): Deny {
  if (status === 'consumed') return alreadyDecided(callId, decisionId)
  const why = typeof comment === 'string' ? `, because: ${comment}` : '.'
  const message = `Approval ${approvalId} is ${status}${why}`
  return deny(callId, `approval_${status}`, message, decisionId)
}

function unknownStatus(error: RemitError, { callId, approvalId, decisionId }: Pending): Deny {
  const { status, message, code } = error
  const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
  return isRefused
    ? deny(callId, 'remit_refused', `Approval ${approvalId} cannot be read: ${message}`, decisionId)
    : deny(
        callId,
        'remit_unavailable',
        `Approval ${approvalId} cannot be read: ${code}`,
        decisionId,
      )
}
