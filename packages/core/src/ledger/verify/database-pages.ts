import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerEntryRow } from '../../db/schema.ts'
import { BESIDE_PAYLOAD, bounded, MAX_READ_BYTES } from '../store/store.ts'
import { COPIES } from './database-rows.ts'
import type { Keys } from '../store/pages.ts'

/** From where a page is read. */
export interface Place extends Keys {
  /** Whether more rows of the number `after` may follow: nothing keeps them apart where the key was dropped. */
  readonly again: boolean
}

type Db = Database<CoreTables>

/** Bytes of a payload that is read with its page; a larger one is read by itself. */
const PAGED_BYTES = 16 * 1024

/** Bytes of any other column: names and hashes are shorter. */
const MAX_TEXT_BYTES = 4096

/** All of them are compared with something, and nothing is empty. */
const COLUMNS = [...BESIDE_PAYLOAD, ...COPIES].map((name) =>
  name === 'seq' || name === 'org_id' ? name : bounded(name, MAX_TEXT_BYTES),
)

/** In the place of a payload that is to be read by itself: no payload is empty. */
const APART = ''

/**
 * Up to `limit` entries in order, with the copies of payload fields that filters use. Large payloads
 * are left out (`lotsOf` reads them): a page of them would not fit into the memory of a thread.
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

/** A page in lots that fit into memory: those with large payloads each by itself. */
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

/** The row with its payload, unless that is larger than any. */
async function withPayload(db: Db, row: LedgerEntryRow): Promise<LedgerEntryRow> {
  const found = await db
    .selectFrom('ledger_entry')
    .select(bounded('payload', MAX_READ_BYTES))
    .where('org_id', '=', row.org_id)
    .where('seq', '=', row.seq)
    .executeTakeFirst()
  return { ...row, payload: found ? found.payload : row.payload }
}
