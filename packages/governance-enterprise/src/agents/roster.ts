import { on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { Tables } from '../schema.ts'
import type { Roster } from './state.ts'

/** What is known of the organization's agents. */
export async function readRoster(db: AnyDatabase, orgId: string): Promise<Roster> {
  const stops = await on<Tables>(db)
    .selectFrom('agent_stop')
    .select(['agent_id', 'reason'])
    .where('org_id', '=', orgId)
    .execute()
  return { suspended: new Map(stops.map(({ agent_id, reason }) => [agent_id, reason])) }
}
