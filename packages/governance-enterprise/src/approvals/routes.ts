import { approvals } from '@remit/contract'
import { fail, pageOf } from '@remit/core/base'
import { actAs, isOwn, ownAgent } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { cancelApproval, decideApproval, revokeApproval } from './decide.ts'
import { eligibilityOf } from './eligibility.ts'
import { eventStream } from '../streams/event-stream.ts'
import { lastEventId } from '../streams/last-event-id.ts'
import { approvalEvents } from './events.ts'
import { statusAt } from './lifecycle.ts'
import type { ConnectionLimits } from '../streams/connection-limits.ts'
import { peopleOf } from './people.ts'
import { wireApproval } from './request.ts'
import { ruleHandlers } from './rules-routes.ts'
import { findRequest, listRequests } from './store.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'
import type { DecisionWaiters } from './decision-waiters.ts'

/** `places` limits waits and streams; `waits` signals decisions. */
export const approvalRoutes = (
  deps: Deps,
  waits: DecisionWaiters,
  places: ConnectionLimits,
): Route[] => {
  const { db, clock, ledger, writer } = deps
  const people = peopleOf(deps)
  const shown = async (caller: Caller, rows: readonly ApprovalRequestRow[]) => {
    const now = clock.now()
    const eligible = await eligibilityOf({ db, people, now }, caller, rows)
    return rows.map((row, i) => ({ ...wireApproval(row, now), ...eligible[i] }))
  }
  const one = async (caller: Caller, row: ApprovalRequestRow) => {
    const [approval] = await shown(caller, [row])
    return approval ?? wireApproval(row, clock.now())
  }
  const requestOf = async (caller: Caller, id: string) => {
    const row = await findRequest(db, caller.orgId, id)
    if (!row || !isOwn(caller, row.agent_id)) throw fail('approval_not_found')
    return row
  }
  return implement(approvals, {
    ...ruleHandlers(deps),

    listApprovals: async ({ query: { limit: most, cursor, status, agent_id: asked } }, caller) => {
      actAs(caller, asked)
      const agentId = ownAgent(caller) ?? asked
      const now = clock.now()
      return pageOf(most, {
        read: (limit) =>
          listRequests(db, caller.orgId, now, { limit, before: cursor, status, agentId }),
        cursor: ({ id }) => id,
        items: (rows) => shown(caller, rows),
      })
    },

    getApproval: async ({ params: { id }, query: { wait } }, caller, request) => {
      const row = await requestOf(caller, id)
      if (wait === 0 || statusAt(row, clock.now()) !== 'pending') return one(caller, row)
      const leave = places.take(caller)
      try {
        await waits.until(caller.orgId, id, wait * 1000, request.signal())
      } finally {
        leave()
      }
      await request.recheck()
      return one(caller, await requestOf(caller, id))
    },

    streamApprovals: async ({ query }, caller, request) => {
      const { size } = await ledger.end(caller.orgId)
      const after = Math.min(lastEventId(request) ?? query.after_seq ?? size - 1, size - 1)
      const stream = eventStream(deps, approvalEvents(deps, caller.orgId), {
        orgId: caller.orgId,
        after,
        over: request.signal(),
        recheck: () => request.recheck(),
        onEnd: places.take(caller),
      })
      // Proxies that buffer responses would delay the events.
      return new Reply<string>(stream, { headers: { 'X-Accel-Buffering': 'no' } })
    },

    decideApproval: ({ params, body }, caller, request) =>
      writer.work(
        caller.orgId,
        { ...request, caller },
        decideApproval(people, params.requestID, body),
      ),

    cancelApproval: ({ params }, caller, request) =>
      writer.work(caller.orgId, { ...request, caller }, cancelApproval(params.id)),

    revokeApproval: ({ params }, caller, request) =>
      writer.work(caller.orgId, { ...request, caller }, revokeApproval(params.id)),
  })
}
