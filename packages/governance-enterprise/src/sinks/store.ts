import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'
import type { SinkRow } from '../tables/sinks.ts'

const sinks = orgTable<Tables, 'sink'>('sink', 'id')

/** Ids sort by creation, and so does the list. */
export const {
  find: findSink,
  list: listSinks,
  count: countSinks,
  insert: insertSink,
  change: changeSink,
  remove: deleteSink,
} = sinks

/** The right of one process to send for a sink, for a limited time. */
export interface Claim {
  readonly holder: string
  readonly now: number
  readonly until: number
}

/** Claims a sink that is due; undefined while another process holds it. */
export const claimSink = (
  db: AnyDatabase,
  { org_id: orgId, id }: Pick<SinkRow, 'org_id' | 'id'>,
  { holder, now, until }: Claim,
): Promise<SinkRow | undefined> =>
  on<Tables>(db)
    .updateTable('sink')
    .set({ holder, held_until: until })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .where('retry_at', '<=', now)
    .where((of) => of.or([of('holder', '=', holder), of('held_until', '<=', now)]))
    .returningAll()
    .executeTakeFirst()

/**
 * Stores the result of an attempt that began at `row`. Undefined if the sink was changed or claimed by
 * another process in the meantime: then nothing is stored, and entries may be sent again.
 */
export const settleSink = (
  db: AnyDatabase,
  { org_id: orgId, id, holder, next_seq: from }: SinkRow,
  result: Partial<SinkRow>,
): Promise<SinkRow | undefined> => changeSink(db, orgId, id, result, { holder, next_seq: from })
