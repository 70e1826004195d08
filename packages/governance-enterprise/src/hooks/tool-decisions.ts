import { AuthorizeRequest } from '@remit/contract'
import type { AuthorizeAnswer } from '@remit/contract'
import { fitted } from '@remit/contract/fit'
import type { JsonObject } from '@remit/contract/fit'
import { checkShape } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'
import type {
  HostCall,
  HostDecision,
  Slot,
  ToolDecisions,
  ClaimedFacts,
} from '@remit/core/decision'
import type { Deps } from '@remit/core/module'
import type { DecisionWaiters } from '../approvals/decision-waiters.ts'
import { amountOf } from '../base/seen-context.ts'
import type { Questions } from './once.ts'

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
  /** Returns whether an allow may be given again; `applied` are the stages whose effects it has. */
  const isStillAllowed = async (
    caller: Caller,
    { body, claims }: Question,
    applied: ReadonlySet<Slot>,
  ): Promise<boolean> => {
    const options = { caller, claims, without: applied }
    const [preview] = await decider.preview(caller.orgId, caller.plan, [body], options)
    return preview?.decision === 'allow'
  }

  const ask = async (caller: Caller, question: Question): Promise<AuthorizeAnswer> => {
    const { body, claims, hasClientId } = question
    for (let { id } = question; ;) {
      const { answer, isRepeated } = await questions.once(caller, KIND, id, (origin) =>
        decider.authorize(body, origin, claims),
      )
      if (!isRepeated || answer.decision !== 'allow') return answer
      const isUsedUp = hasClientId && answer.approval !== undefined
      if (!isUsedUp && (await isStillAllowed(caller, question, appliedBy(answer, body))))
        return answer
      // The next decision needs an entry of its own.
      id = `${id} after ${answer.decision_id}`
    }
  }

  return {
    async decide(caller, call, { maxMs, signal }) {
      const question = await questionOf(call)
      const until = clock.now() + maxMs
      const followed = new Set<string>()
      for (;;) {
        const answer = await ask(caller, question)
        const { decision, decision_id: decisionId, message, approval, warnings } = answer
        if (decision !== 'needs_approval')
          return { decision, decisionId, message, ...(warnings && { warnings }) }
        const left = until - clock.now()
        if (approval === undefined || left <= 0 || signal.aborted || followed.has(approval.id))
          return waitingFor(approval?.id, decisionId, message)
        followed.add(approval.id)
        const isDecided = await waits.until(caller.orgId, approval.id, left, signal)
        // Nobody may be left to run what the next answer allows.
        if (!isDecided || signal.aborted || clock.now() >= until)
          return waitingFor(approval.id, decisionId, message)
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

/** The stages whose effects belong to an allow: its hold, and the approval that it used. */
function appliedBy({ approval }: AuthorizeAnswer, { context }: AuthorizeRequest): Set<Slot> {
  const applied = new Set<Slot>()
  if (typeof amountOf(context) === 'object') applied.add('spend_limit')
  if (approval !== undefined) applied.add('approval_rule')
  return applied
}

interface Question extends Pick<HostCall, 'id' | 'hasClientId'> {
  readonly body: AuthorizeRequest
  readonly claims: ClaimedFacts
}

async function questionOf(call: HostCall): Promise<Question> {
  const { agentId, action, resource, context, id, hasClientId, readings, unmappable } = call
  const facts = await fitted(context as JsonObject)
  const body = checkShape(AuthorizeRequest, {
    action,
    ...(agentId !== undefined && { agent_id: agentId }),
    ...(resource !== undefined && { resource }),
    context: facts.context,
    ...(facts.replaced.length > 0 && { replaced: facts.replaced }),
  })
  const claims = { ...(readings && { readings }), ...(unmappable !== undefined && { unmappable }) }
  return {
    body,
    claims,
    ...(id !== undefined && { id }),
    ...(hasClientId !== undefined && { hasClientId }),
  }
}
