import { AuthorizeRequest } from '@remit/contract'
import type { AuthorizeAnswer } from '@remit/contract'
import { fitted } from '@remit/contract/fit'
import type { JsonObject } from '@remit/contract/fit'
import { checkShape, invalid } from '@remit/core'
import type { Caller, Deps, HostCall, HostDecision, Slot, ToolDecisions } from '@remit/core'
import type { DecisionWaiters } from '../approvals/decision-waiters.ts'
import type { Questions } from './once.ts'

/** Their effects belong to the decision: its hold, and the approval that it used. */
const APPLIED: ReadonlySet<Slot> = new Set(['spend_limit', 'approval_rule'])

/** The name of a question among the stored answers of its caller. */
const KIND = 'hook-decision'

/**
 * Decides as `POST /v1/authorize` does, and follows an approval while the host waits. A question that the
 * host repeats has one decision and one hold.
 */
export function toolDecisions(
  { decider, clock }: Pick<Deps, 'decider' | 'clock'>,
  waits: DecisionWaiters,
  questions: Questions,
): ToolDecisions {
  const isStillAllowed = async (caller: Caller, body: AuthorizeRequest): Promise<boolean> => {
    const options = { caller, without: APPLIED }
    const [preview] = await decider.preview(caller.orgId, caller.plan, [body], options)
    return preview?.decision === 'allow'
  }

  const ask = async (
    caller: Caller,
    body: AuthorizeRequest,
    id: string | undefined,
  ): Promise<AuthorizeAnswer> => {
    const decide = (asked: string | undefined) =>
      questions.once(caller, KIND, asked, (requested) => decider.authorize(caller, body, requested))
    const { answer, isRepeated } = await decide(id)
    if (!isRepeated || answer.decision !== 'allow' || (await isStillAllowed(caller, body)))
      return answer
    // Rules have changed since: the denial needs an entry of its own.
    return (await decide(`${id} after ${answer.decision_id}`)).answer
  }

  return {
    async decide(caller, call, { maxMs, signal }) {
      const body = await bodyOf(call)
      const until = clock.now() + maxMs
      const followed = new Set<string>()
      for (let id = call.id; ;) {
        const { decision, decision_id: decisionId, message, approval } = await ask(caller, body, id)
        if (decision !== 'needs_approval') return { decision, decisionId, message }
        const left = until - clock.now()
        if (approval === undefined || left <= 0 || signal.aborted || followed.has(approval.id))
          return waitingFor(approval?.id, decisionId, message)
        followed.add(approval.id)
        const isDecided = await waits.until(caller.orgId, approval.id, left, signal)
        // Nobody may be left to run what the next answer allows. An answer before the vote would be kept.
        if (!isDecided || signal.aborted || clock.now() >= until)
          return waitingFor(approval.id, decisionId, message)
        // The question after an approval is another one.
        id &&= `${call.id} ${approval.id}`
      }
    },
  }
}

const waitingFor = (
  approvalId: string | undefined,
  decisionId: string,
  message: string,
): HostDecision => ({
  decision: 'deny',
  decisionId,
  message: `${message} Waiting for approval ${approvalId}. Call again with the same arguments after the approval.`,
})

async function bodyOf({ agentId, action, resource, context }: HostCall) {
  const facts = await fitted(context as JsonObject)
  if (facts === null) throw invalid('context', 'has more members than a request can hold')
  return checkShape(AuthorizeRequest, {
    action,
    ...(agentId !== undefined && { agent_id: agentId }),
    ...(resource !== undefined && { resource }),
    context: facts,
  })
}
