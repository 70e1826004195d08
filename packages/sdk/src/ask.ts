import { canRetry, delayAfter, pause, RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { nextId } from './ids.ts'
import type { AuthorizeRequest } from './mapping.ts'

/** One question to Remit; the same key is the same question. */
export interface Question {
  readonly request: AuthorizeRequest
  /** The request as JSON. */
  readonly text: string
  readonly key: string
  readonly traceparent?: string
}

export interface Limits {
  /** For the question with all its attempts. */
  readonly timeoutMs: number
  readonly retries: number
  readonly signal: AbortSignal | undefined
}

/** An answer that can be relied upon, or why there is none. */
export type Answer =
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
}

interface Approval {
  readonly id: string
  readonly expires_at: string | null
}

/**
 * Asks until there is an answer, with one key for all attempts: a lost allow is fetched again and holds
 * money once. Rejects only with the reason of the signal.
 */
export async function ask(client: Client, question: Question, limits: Limits): Promise<Answer> {
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

interface Asked {
  readonly request: AuthorizeRequest
  readonly requestId: string
  /** An earlier attempt may have been carried out without its answer arriving. */
  readonly isLost: boolean
}

/** Only an answer to exactly this question counts. Throws a `RemitError` for anything else. */
function readAnswer(
  { data, status, headers }: { data: unknown; status: number; headers: Headers },
  asked: Asked,
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
function isOwn(headers: Headers, { requestId, isLost }: Asked): boolean {
  if (headers.get('idempotency-replayed') === null) return true
  const first = headers.get('idempotency-first-request-id')
  if (first !== null && headers.get('x-request-id') === requestId) return first === requestId
  return isLost
}

function failed(error: RemitError): Answer {
  const { status, code, message } = error
  const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
  return {
    kind: 'failed',
    reason: isRefused ? 'remit_refused' : 'remit_unavailable',
    detail: isRefused ? message : code,
  }
}
