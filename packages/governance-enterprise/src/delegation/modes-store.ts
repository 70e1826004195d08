import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'
import type { AgentModeRow } from '../tables/delegation.ts'

export const {
  find: findMode,
  list: listModes,
  put: putMode,
} = orgTable<Tables, 'agent_mode'>('agent_mode', 'agent_id', [])

/** Modes set after a revision; null for all. */
export const modesSince = (
  db: AnyDatabase,
  orgId: string,
  revision: number | null,
): Promise<AgentModeRow[]> => {
  const all = on<Tables>(db).selectFrom('agent_mode').selectAll().where('org_id', '=', orgId)
  return (revision === null ? all : all.where('revision', '>', revision)).execute()
}
