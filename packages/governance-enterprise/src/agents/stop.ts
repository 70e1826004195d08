import { fail, OPERATOR, on } from '@remit/core'
import type { AgentSwitch, Deps } from '@remit/core'
import type { Tables } from '../schema.ts'
import { actorOf } from '../actor.ts'

/** Stops and releases agents; the next decision on any process follows. */
export const agentSwitch = ({ writer }: Deps): AgentSwitch => ({
  suspend: (orgId, agentId, reason) =>
    writer.change(orgId, OPERATOR, async ({ tx, recordedAt }) => {
      await on<Tables>(tx)
        .insertInto('agent_stop')
        .values({ org_id: orgId, agent_id: agentId, reason, stopped_at: recordedAt })
        .onConflict((conflict) => conflict.columns(['org_id', 'agent_id']).doUpdateSet({ reason }))
        .execute()
      return {
        entries: [
          {
            kind: 'agent.suspended',
            actor: actorOf(null),
            agent_id: agentId,
            data: { agent_id: agentId, reason },
          },
        ],
        reply: () => undefined,
      }
    }),
  resume: (orgId, agentId) =>
    writer.change(orgId, OPERATOR, async ({ tx }) => {
      const { numDeletedRows } = await on<Tables>(tx)
        .deleteFrom('agent_stop')
        .where('org_id', '=', orgId)
        .where('agent_id', '=', agentId)
        .executeTakeFirstOrThrow()
      if (numDeletedRows === 0n) throw fail('not_found', `${agentId} is not suspended`)
      return {
        entries: [
          {
            kind: 'agent.resumed',
            actor: actorOf(null),
            agent_id: agentId,
            data: { agent_id: agentId },
          },
        ],
        reply: () => undefined,
      }
    }),
})
