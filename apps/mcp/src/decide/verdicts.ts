import { toolMessage } from '@remit/sdk'
import type { Allow, Deny, Pending } from '@remit/sdk'
import { CODES, errorAnswer, resultAnswer, toolError } from '../rpc/answers.ts'
import type { Id } from '../rpc/members.ts'
import { BUDGETS } from '../rpc/protocol.ts'
import type { Era } from '../rpc/protocol.ts'
import { setMember } from '../rpc/splice.ts'
import type { Settings } from './governed.ts'
import type { Question } from './question.ts'

/** A request that was not forwarded. */
interface Refused {
  readonly id: Id
  readonly era: Era
  readonly method: Question['method']
}

const DOWN = new Set(['remit_unavailable', 'remit_refused'])

/** The response to a denied request. Only a tool result has a place for the model to read. */
export function denied(
  { id, era, method }: Refused,
  verdict: Deny,
  deny: Settings['deny'],
): string {
  const text = toolMessage(verdict)
  if (DOWN.has(verdict.reason)) return errorAnswer(id, CODES.internal, text)
  if (method === 'tools/call' && deny === 'result') return toolError(id, era, text)
  const data = { reason: verdict.reason, decision_id: verdict.decisionId }
  return errorAnswer(id, CODES.denied, text, data)
}

/**
 * The response with the budgets of the decision in `_meta` of its result, for a client that asked for them. An
 * upstream cannot make them up.
 */
export function withBudgets(
  answer: Buffer | string,
  { wantsBudgets }: Pick<Question, 'wantsBudgets'>,
  { budgets = [] }: Pick<Allow | Deny, 'budgets'>,
): Buffer | string {
  if (!wantsBudgets) return answer
  const bytes = Buffer.from(answer)
  const text = JSON.stringify(budgets)
  return (
    setMember(bytes, ['result', '_meta'], BUDGETS, text) ??
    setMember(bytes, ['result'], '_meta', `{"${BUDGETS}":${text}}`) ??
    answer
  )
}

/** The response to a request that waited for an approval in vain. */
export function stillPending({ id, era, method }: Refused, verdict: Pending): string {
  const text = `${toolMessage(verdict)} Call again with the same arguments after the approval.`
  if (method === 'tools/call') return toolError(id, era, text)
  const data = { reason: 'approval_required', approval_id: verdict.approvalId }
  return errorAnswer(id, CODES.denied, text, data)
}

/** Asks the client to open the page of the approval. The vote is cast there, never by the client. */
export function approvalPage(
  { id, era }: Refused,
  { approvalId, message }: Pending,
  url: string,
  requestState: string,
): string {
  const elicitation = { mode: 'url', elicitationId: approvalId, url, message }
  if (era === 'legacy')
    return errorAnswer(id, CODES.urlElicitationRequired, message, { elicitations: [elicitation] })
  const inputRequests = { approval: { method: 'elicitation/create', params: elicitation } }
  return resultAnswer(id, era, { resultType: 'input_required', inputRequests, requestState })
}
