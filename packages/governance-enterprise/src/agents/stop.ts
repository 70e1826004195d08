import { fail } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import { orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import type { AgentSwitch, Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { Tables } from '../tables/schema.ts'

const stops = orgTable<Tables, 'agent_stop'>('agent_stop', 'agent_id', ['stopped_at'])

/**
 * Suspends and resumes agents; the next decision of every process follows. The registry stores the
 * status of registered agents; the table of stops is for the others.
 */
export const agentSwitch = ({ writer, offered }: Deps): AgentSwitch => ({
  suspend: (orgId, agentId, reason, person) =>
    writer.change(orgId, OPERATOR, async (scope) => {
      const registered = await offered('agentRegistry')?.suspend(scope, agentId, reason)
      return done(registered ?? (await stop(scope, agentId, reason)), person)
    }),

  resume: (orgId, agentId, person) =>
    writer.change(orgId, OPERATOR, async (scope) => {
      const registered = await offered('agentRegistry')?.resume(scope, agentId)
      if (registered) return done(registered, person)
      if ((await release(scope, agentId)) === null)
        throw fail('not_found', `${agentId} is not suspended`)
      const data = { agent_id: agentId }
      const resumed = {
        kind: 'agent.resumed',
        actor: actorOf(null),
        agent_id: agentId,
        data,
      } as const
      return done(resumed, person)
    }),

  release,
  stopped: (orgId, tx) => readStops(tx, orgId),
})

/** Returns the suspended agents outside the registry, with the reason. */
export async function readStops(db: AnyDatabase, orgId: string): Promise<Map<string, string>> {
  return new Map((await stops.list(db, orgId)).map(({ agent_id, reason }) => [agent_id, reason]))
}

const done = (entry: EntryDraft<'agent.suspended' | 'agent.resumed'>, person?: string) => ({
  entries: [
    (person === undefined ? entry : { ...entry, data: { ...entry.data, person } }) as EntryDraft,
  ],
  reply: () => undefined,
})

async function stop(
  { tx, orgId, recordedAt }: LedgerScope,
  agentId: string,
  reason: string | null,
): Promise<EntryDraft<'agent.suspended'>> {
  const row = { org_id: orgId, agent_id: agentId, reason: reason ?? '', stopped_at: recordedAt }
  await stops.put(tx, row)
  const data = { agent_id: agentId, reason }
  return { kind: 'agent.suspended', actor: actorOf(null), agent_id: agentId, data }
}

async function release({ tx, orgId }: LedgerScope, agentId: string): Promise<string | null> {
  return (await stops.remove(tx, orgId, agentId))?.reason ?? null
}
