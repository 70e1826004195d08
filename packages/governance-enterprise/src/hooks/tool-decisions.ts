import { AuthorizeRequest } from '@remit/contract'
import { checkShape } from '@remit/core'
import type { Deps, HostCall, HostDecision, ToolDecisions } from '@remit/core'
import type { DecisionWaiters } from '../approvals/decision-waiters.ts'
import { fitted } from './fitted.ts'

/** Of a request without an `Idempotency-Key`. */
export const UNCLAIMED = { claim: null, wantsNote: false } as const

/** Decides as `POST /v1/authorize` does, and follows an approval while the host waits. */
export const toolDecisions = (
  { decider, clock }: Pick<Deps, 'decider' | 'clock'>,
  waits: DecisionWaiters,
): ToolDecisions => ({
  async decide(caller, call, { maxMs, signal }) {
    const body = bodyOf(call)
    const until = clock.now() + maxMs
    for (;;) {
      const answer = await decider.authorize(caller, body, UNCLAIMED)
      const { decision, decision_id: decisionId, message, approval } = answer
      if (decision !== 'needs_approval') return { decision, decisionId, message }
      const left = until - clock.now()
      if (approval === undefined || left <= 0 || signal.aborted)
        return waitingFor(approval?.id, decisionId, message)
      await waits.until(caller.orgId, approval.id, left, signal)
      // Nobody may be left to run what the next answer allows.
      if (signal.aborted || clock.now() >= until)
        return waitingFor(approval.id, decisionId, message)
    }
  },
})

const waitingFor = (
  approvalId: string | undefined,
  decisionId: string,
  message: string,
): HostDecision => ({
  decision: 'deny',
  decisionId,
  message: `${message} Waiting for approval ${approvalId}. Call again with the same arguments after the approval.`,
})

const bodyOf = ({ agentId, action, resource, context }: HostCall) =>
  checkShape(AuthorizeRequest, {
    action,
    ...(agentId !== undefined && { agent_id: agentId }),
    ...(resource !== undefined && { resource }),
    context: fitted(context),
  })
