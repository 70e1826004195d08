import type { AuthorizeAnswer, AuthorizeRequest, Decision } from '@remit/contract'
import { actorOf } from '../caller/caller.ts'
import { firstOf } from '../ledger/write/work.ts'
import type { Item, Lane, Outcome, WriteContext } from '../ledger/write/work.ts'
import { resourceText } from './resource.ts'

/** The request for approval that a self-test is held by; nobody can vote on it. */
const SELF_TEST_APPROVAL = 'apr_selftest'

/** The constant answers to the reserved actions. */
export const SELF_TESTS: ReadonlyMap<string, Decision> = new Map([
  ['remit.selftest.allow', 'allow'],
  ['remit.selftest.deny', 'deny'],
  ['remit.selftest.needs_approval', 'needs_approval'],
])

interface SelfTestJob {
  readonly decisionId: string
  readonly request: AuthorizeRequest
  readonly decision: Decision
}

/**
 * Answers the reserved actions by which an agent host proves that it obeys decisions. No stage is asked,
 * no money held, no approval opened, and the entry is no decision for reports.
 */
export const selfTestLane: Lane<SelfTestJob, AuthorizeAnswer> = {
  name: 'selftest',
  run: (items, scope) =>
    Promise.resolve({ outcomes: items.map((item) => outcomeOf(item, scope)), further: [] }),
}

function outcomeOf(
  { job, caller }: Item<SelfTestJob>,
  { recordedAt }: WriteContext,
): Outcome<AuthorizeAnswer> {
  const { decisionId, request, decision } = job
  const { agent_id, action, context = {} } = request
  const held = { id: SELF_TEST_APPROVAL, status: 'pending', expires_at: null }
  const reason = 'self_test'
  return {
    entries: [
      {
        kind: 'selftest.checked',
        actor: actorOf(caller),
        agent_id,
        action,
        resource: resourceText(request.resource),
        decision,
        reason,
        data: { context, decision_id: decisionId },
      },
    ],
    reply: (recorded) => ({
      decision,
      reason,
      message: 'A self-test: the answer is a constant.',
      decision_id: decisionId,
      agent_id,
      action,
      matched: [],
      ...(decision === 'needs_approval' && { request_id: SELF_TEST_APPROVAL, approval: held }),
      ledger: firstOf(recorded).receipt,
      decided_at: recordedAt,
    }),
  }
}
