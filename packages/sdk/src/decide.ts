import type { BudgetState } from '@remit/contract'
import { RemitError, delayAfter, pause, canRetry } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { decisionKey, nextId } from './key.ts'
import type { Step } from './key.ts'
import type { AuthorizeRequest } from './mapping.ts'
import { deny, isRefusal } from './errors.ts'
import type { Deny, Pending, Verdict } from './errors.ts'

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
export interface StepRequest {
  readonly request: AuthorizeRequest
  /** The request as JSON (RFC 8785). */
  readonly text: string
  readonly step: Step
}

/** The verdict on one step: asks, follows an approval, and asks again with the identical request. */
export async function decide(
  client: Client,
  { request, text, step }: StepRequest,
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
  const { budgets, retry_at: retryAt } = answer.body
  const about = budgets && { budgets }
  if (answer.decision === 'deny')
    return {
      kind: 'deny',
      reason,
      message,
      callId,
      decisionId,
      ...about,
      ...(retryAt !== undefined && { retryAt }),
    }
  return {
    kind: 'allow',
    decisionId,
    callId,
    action,
    reason,
    approvalId: used ?? approvalId,
    ...about,
  }
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
  const { message, code } = error
  return isRefusal(error)
    ? deny(callId, 'remit_refused', `Approval ${approvalId} cannot be read: ${message}`, decisionId)
    : deny(
        callId,
        'remit_unavailable',
        `Approval ${approvalId} cannot be read: ${code}`,
        decisionId,
      )
}

const LONGEST_WAIT_S = 55
/** Beyond the seconds that the server holds the answer. */
const SLACK_MS = 10_000
/** Between two questions, where the server does not hold its answer. */
const PAUSE_MS = 500

type Status = 'pending' | 'approved' | 'consumed' | 'rejected' | 'expired' | 'cancelled' | 'revoked'

/**
 * The status of an approval once it is no longer pending, or after `maxMs`; with 0, the status now.
 * Throws the `RemitError` of a refusal, and of a failure that lasts until `maxMs`.
 */
async function approvalStatus(
  client: Client,
  id: string,
  maxMs: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly status: Status; readonly comment: string | null }> {
  const deadline = Date.now() + maxMs
  for (let failures = 0; ;) {
    const left = Math.max(0, deadline - Date.now())
    const wait = Math.min(LONGEST_WAIT_S, Math.ceil(left / 1000))
    const begun = Date.now()
    try {
      const { status, comment_for_agent: comment = null } = await client.getApproval({
        params: { id },
        ...(wait > 0 && { query: { wait } }),
        timeoutMs: Math.min(left, wait * 1000) + SLACK_MS,
        retries: maxMs === 0 ? 2 : 0,
        ...(signal && { signal }),
      })
      if (status !== 'pending' || Date.now() >= deadline) return { status, comment }
      failures = 0
      if (Date.now() - begun < PAUSE_MS) await pause(PAUSE_MS, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof RemitError) || isRefusal(error)) throw error
      const delay = delayAfter(failures++, error)
      if (Date.now() + delay >= deadline) throw error
      await pause(delay, signal)
    }
  }
}

/** One question to Remit; the same key is the same question. */
interface Question {
  readonly request: AuthorizeRequest
  /** The request as JSON. */
  readonly text: string
  readonly key: string
  readonly traceparent?: string
}

interface Limits {
  /** For the question with all its attempts. */
  readonly timeoutMs: number
  readonly retries: number
  readonly signal: AbortSignal | undefined
}

/** An answer that can be relied upon, or why there is none. */
type Answer =
  | { readonly kind: 'decided'; readonly decision: 'allow' | 'deny'; readonly body: Body }
  | { readonly kind: 'pending'; readonly body: Body; readonly approval: Approval }
  /** An allow whose first answer went to another check. */
  | { readonly kind: 'already_decided'; readonly body: Body }
  | {
      readonly kind: 'failed'
      readonly reason: 'remit_refused' | 'remit_unavailable'
      readonly detail: string
    }

interface Body {
  readonly decision_id: string
  readonly reason: string
  readonly message: string
  /** The approval that an allow has used. */
  readonly approval_id: string | null
  readonly budgets?: readonly BudgetState[]
  readonly retry_at?: string | null
}

interface Approval {
  readonly id: string
  readonly expires_at: string | null
}

/**
 * Asks until there is an answer, with one key for all attempts: a lost allow is fetched again and holds
 * money once. Rejects only with the reason of the signal.
 */
async function ask(client: Client, question: Question, limits: Limits): Promise<Answer> {
  const requestId = nextId()
  const deadline = Date.now() + limits.timeoutMs
  let isLost = false
  for (let attempt = 0; ; attempt++) {
    const left = deadline - Date.now()
    // Each attempt leaves half of the time to those that may follow.
    const timeoutMs = Math.max(1, attempt < limits.retries ? left / 2 : left)
    try {
      const answer = await send(client, question, requestId, timeoutMs, limits.signal)
      return readAnswer(answer, { request: question.request, requestId, isLost })
    } catch (error) {
      limits.signal?.throwIfAborted()
      if (!(error instanceof RemitError)) throw error
      const delay = delayAfter(attempt, error)
      const isLast = attempt >= limits.retries || Date.now() + delay >= deadline
      if (isLast || !canRetry(error, true)) return failed(error)
      if (error.problem === null || error.status >= 500) isLost = true
      await pause(delay, limits.signal)
    }
  }
}

const send = (
  client: Client,
  { request, text, key, traceparent }: Question,
  requestId: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
) =>
  client.authorize.withResponse({
    body: request,
    json: text,
    idempotencyKey: key,
    headers: { 'x-request-id': requestId, ...(traceparent !== undefined && { traceparent }) },
    retries: 0,
    timeoutMs,
    ...(signal && { signal }),
  })

interface AskAttempt {
  readonly request: AuthorizeRequest
  readonly requestId: string
  /** An earlier attempt may have been carried out without its answer arriving. */
  readonly isLost: boolean
}

/** Only an answer to exactly this question counts. Throws a `RemitError` for anything else. */
function readAnswer(
  { data, status, headers }: { data: unknown; status: number; headers: Headers },
  asked: AskAttempt,
): Answer {
  const body = (data ?? {}) as Partial<Body> & {
    decision?: unknown
    agent_id?: unknown
    action?: unknown
    approval?: Partial<Approval>
  }
  const { action, agent_id: agentId } = asked.request
  const isOfThis =
    status === 200 &&
    isText(body.decision_id) &&
    body.action === action &&
    (agentId === undefined || body.agent_id === agentId)
  if (isOfThis) {
    const read = {
      decision_id: body.decision_id ?? '',
      reason: body.reason ?? '',
      message: body.message ?? '',
      approval_id: body.approval?.id ?? null,
      ...(Array.isArray(body.budgets) && { budgets: body.budgets }),
      ...(body.retry_at !== undefined && { retry_at: body.retry_at }),
    }
    if (body.decision === 'allow')
      return isOwn(headers, asked)
        ? { kind: 'decided', decision: 'allow', body: read }
        : { kind: 'already_decided', body: read }
    if (body.decision === 'deny') return { kind: 'decided', decision: 'deny', body: read }
    const { id, expires_at: until = null } = body.approval ?? {}
    if (body.decision === 'needs_approval' && isText(id))
      return { kind: 'pending', body: read, approval: { id: id ?? '', expires_at: until } }
  }
  const message = `${status} without a decision about ${action}`
  throw new RemitError({ code: 'unexpected_answer', message, status, headers })
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

/**
 * Returns whether an allow is the answer to this check, and not to an earlier one that may have run. The
 * server names the request that was carried out. Where it does not, or where a proxy gives requests other
 * ids, a repeat counts as this check's own only after an attempt whose answer was lost.
 */
function isOwn(headers: Headers, { requestId, isLost }: AskAttempt): boolean {
  if (headers.get('idempotency-replayed') === null) return true
  const first = headers.get('idempotency-first-request-id')
  if (first !== null && headers.get('x-request-id') === requestId) return first === requestId
  return isLost
}

function failed(error: RemitError): Answer {
  const { code, message } = error
  const isRefused = isRefusal(error)
  return {
    kind: 'failed',
    reason: isRefused ? 'remit_refused' : 'remit_unavailable',
    detail: isRefused ? message : code,
  }
}
