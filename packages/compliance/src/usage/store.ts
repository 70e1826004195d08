import type { Database } from '@remit/core/db/open'
import { bulkInsert, inPart } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import { sql } from 'kysely'
import type { Tables } from '../tables/schema.ts'
import type { UsageHourRow } from '../tables/usage.ts'
import { moveProgress } from '../followers/follower.ts'
import type { Behind } from '../followers/follower.ts'
import { COUNTED_KINDS } from './fold.ts'
import type { UsageEntry } from './fold.ts'

type Db = Database<Tables>

const COLUMNS = {
  org_id: 'text',
  hour: 'text',
  meter: 'text',
  to_seq: 'bigint',
  from_seq: 'bigint',
  quantity: 'bigint',
  sent: 'bigint',
} as const

/** An entry with its position and time. */
export type Positioned = UsageEntry & { readonly seq: number; readonly recorded_at: string }

/** Returns the next entries; payloads only where they count. */
export async function readEntries(
  db: Db,
  orgId: string,
  fromSeq: number,
  limit: number,
): Promise<Positioned[]> {
  const counted = sql.join(COUNTED_KINDS.map((kind) => sql.lit(kind)))
  return db
    .selectFrom('ledger_entry')
    .select(['seq', 'kind', 'agent_id', 'recorded_at'])
    .select(sql<string | null>`case when kind in (${counted}) then payload end`.as('payload'))
    .where('org_id', '=', orgId)
    .where('seq', '>=', fromSeq)
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** Adds the rows of an hour together with the progress; false if another process did. */
export const addHour = (
  db: Db,
  behind: Behind,
  next: number,
  rows: readonly UsageHourRow[],
): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    if (!(await moveProgress(tx, 'usage_progress', behind, next))) return false
    await bulkInsert(tx, 'usage_hour', COLUMNS, [...rows], '')
    return true
  })

/** Returns the oldest rows that the sink has not accepted; of some organizations of a part, or of all. */
export async function findUnsent(
  db: Db,
  part: Part,
  organizations: readonly string[] | null,
  limit: number,
): Promise<UsageHourRow[]> {
  let query = db.selectFrom('usage_hour').selectAll().where(inPart(part)).where('sent', '=', 0)
  if (organizations !== null) query = query.where('org_id', 'in', organizations)
  return query.orderBy('hour').orderBy('org_id').orderBy('meter').limit(limit).execute()
}

export async function markSent(db: Db, row: UsageHourRow): Promise<void> {
  await db
    .updateTable('usage_hour')
    .set({ sent: 1 })
    .where('org_id', '=', row.org_id)
    .where('hour', '=', row.hour)
    .where('meter', '=', row.meter)
    .where('to_seq', '=', row.to_seq)
    .execute()
}

export const readUsage = (
  db: Db,
  orgId: string,
  from: string,
  to: string,
): Promise<UsageHourRow[]> =>
  db
    .selectFrom('usage_hour')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .orderBy('hour')
    .orderBy('meter')
    .orderBy('to_seq')
    .execute()
