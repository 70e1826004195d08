import { isoTime } from '@remit/core/base'
import type { Database } from '@remit/core/db/open'
import { bulkInsert, inPart } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Tally } from '../jobs/tally.ts'
import type { Tables } from '../tables/schema.ts'
import { moveProgress } from '../watch/progress.ts'
import type { Behind } from '../watch/progress.ts'

type Db = Database<Tables>

const COLUMNS = {
  org_id: 'text',
  size: 'text',
  dimension: 'text',
  bucket: 'text',
  key: 'text',
  count: 'bigint',
  micro: 'bigint',
} as const
const SUM = `on conflict (org_id, size, dimension, bucket, key) do update
  set count = stat_bucket.count + excluded.count, micro = stat_bucket.micro + excluded.micro`

/**
 * Adds counts together with the progress. False if another process has counted these entries: then
 * nothing is added.
 */
export function addTally(db: Db, behind: Behind, { rows, nextSeq: next }: Tally): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    if (!(await moveProgress(tx, 'stat_progress', behind, next))) return false
    const counted = rows.map((row) => ({ org_id: behind.orgId, ...row }))
    await bulkInsert(tx, 'stat_bucket', COLUMNS, counted, SUM)
    return true
  })
}

const MINUTES_KEPT_MS = 7 * 24 * 60 * 60 * 1000

/** Deletes the minutes of more than seven days ago; their hours stay. */
export async function forgetMinutes(db: Db, part: Part, now: number): Promise<void> {
  await db
    .deleteFrom('stat_bucket')
    .where(inPart(part))
    .where('size', '=', 'minute')
    .where('bucket', '<', isoTime(now - MINUTES_KEPT_MS).slice(0, 16))
    .execute()
}
