import { fail, OPERATOR, on } from '@remit/core'
import type { AgentSwitch, Deps, Stage } from '@remit/core'
import type { Tables } from '../schema.ts'
import { actorOf } from '../actor.ts'

type Snapshot = ReadonlyMap<string, string>

/** The slot `agent_deny`, as far as it goes without grants and a registry: agents that were stopped. */
export const agentStage: Stage<Snapshot, never, Snapshot> = {
  unavailable: {
    reason: 'stage_unavailable',
    message: 'Whether the agent may act at all cannot be read.',
  },
  async load(orgId, tx) {
    const rows = await on<Tables>(tx)
      .selectFrom('agent_stop')
      .select(['agent_id', 'reason'])
      .where('org_id', '=', orgId)
      .execute()
    return new Map(rows.map((row) => [row.agent_id, row.reason]))
  },
  prepare: (_asks, stopped) => Promise.resolve(stopped),
  decide({ request: { agent_id } }, stopped) {
    const reason = stopped.get(agent_id)
    if (reason === undefined) return { verdict: 'pass' }
    return {
      verdict: 'deny',
      reason: 'agent_suspended',
      message: `The agent is suspended: ${reason}`,
      notes: { matched: [{ kind: 'agent', id: agent_id }] },
    }
  },
}

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
