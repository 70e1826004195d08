import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerEntryRow } from '../../db/schema.ts'
import { BESIDE_PAYLOAD, bounded, MAX_READ_BYTES } from '../store/store.ts'
import { COPIES } from './database-rows.ts'
import type { Keys } from '../store/pages.ts'

/** The start of a page. */
export interface Place extends Keys {
  /**
   * True if more rows of the number `after` may follow, which is possible without the primary key.
   */
  readonly again: boolean
}

type Db = Database<CoreTables>

/** Maximum bytes of a payload that is read with its page; larger ones are read individually. */
const PAGED_BYTES = 16 * 1024

/** Maximum bytes of any other column: names and hashes are shorter. */
const MAX_TEXT_BYTES = 4096

/** All of them are compared with non-empty values. */
const COLUMNS = [...BESIDE_PAYLOAD, ...COPIES].map((name) =>
  name === 'seq' || name === 'org_id' ? name : bounded(name, MAX_TEXT_BYTES),
)

/** Placeholder of a payload that is read individually: no payload is empty. */
const APART = ''

/**
 * Returns up to `limit` entries in order, with the copies of payload fields for filters. Large
 * payloads are omitted (`lotsOf` reads them): a page of them would exceed the memory of a thread.
 */
export async function readRows(
  db: Db,
  orgId: string,
  { after, again, below }: Place,
  limit: number,
): Promise<LedgerEntryRow[]> {
  let query = db
    .selectFrom('ledger_entry')
    .select([...COLUMNS, bounded('payload', PAGED_BYTES)])
    .where('org_id', '=', orgId)
  if (after !== null) query = query.where('seq', again ? '>=' : '>', after)
  const most = again ? limit + 1 : limit
  const found = query.where('seq', '<', below).orderBy('seq').limit(most)
  const rows = (await found.execute()) as LedgerEntryRow[]
  if (again && rows[0]?.seq === after) rows.shift()
  return rows
}

/** Splits a page into batches that fit into memory: those with large payloads individually. */
export async function* lotsOf(
  db: Db,
  rows: readonly LedgerEntryRow[],
): AsyncGenerator<LedgerEntryRow[]> {
  let from = 0
  for (const [at, row] of rows.entries()) {
    if (row.payload !== APART) continue
    if (at > from) yield rows.slice(from, at)
    yield [await withPayload(db, row)]
    from = at + 1
  }
  if (from < rows.length) yield rows.slice(from)
}

/** Returns the row with its payload, unless that is larger than any valid one. */
async function withPayload(db: Db, row: LedgerEntryRow): Promise<LedgerEntryRow> {
  const found = await db
    .selectFrom('ledger_entry')
    .select(bounded('payload', MAX_READ_BYTES))
    .where('org_id', '=', row.org_id)
    .where('seq', '=', row.seq)
    .executeTakeFirst()
  return { ...row, payload: found ? found.payload : row.payload }
}
