import { sql } from 'kysely'
import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import { parseCarried } from '../format/carried.ts'
import type { StoredEntry } from '../format/entry.ts'
import { BESIDE_PAYLOAD, bounded, MAX_READ_BYTES, STORED } from './store.ts'

type Db = Database<CoreTables>

/** Of up to 256 KiB each. */
const PAGE = 100

/** Returns the existing entries of these numbers, in order. */
export const readSome = (db: Db, orgId: string, seqs: readonly number[]): Promise<StoredEntry[]> =>
  db
    .selectFrom('ledger_entry')
    .select(STORED)
    .where('org_id', '=', orgId)
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute()

/** Deletes payload and salt of entries, and the copies of payload fields. */
export async function clearPayloads(db: Db, orgId: string, seqs: readonly number[]): Promise<void> {
  const nothing = { salt: null, payload: null }
  const copies = { agent_id: null, actor_id: null, action: null, decision: null }
  await db
    .updateTable('ledger_entry')
    .set({ ...nothing, ...copies })
    .where('org_id', '=', orgId)
    .where('seq', 'in', seqs)
    .execute()
}

/** Returns the `state.carried` entries of a range that are not erased, page by page. */
export async function* carriedEntries(
  db: Db,
  orgId: string,
  { from, below = Number.MAX_SAFE_INTEGER }: { readonly from: number; readonly below?: number },
): AsyncGenerator<StoredEntry> {
  for (let after = from - 1; ;) {
    const rows = await db
      .selectFrom('ledger_entry')
      .select([...BESIDE_PAYLOAD, bounded('payload', MAX_READ_BYTES)])
      .where('org_id', '=', orgId)
      .where('seq', '>', after)
      .where('seq', '<', below)
      // Must match the condition of the index `ledger_entry_carried` literally.
      .where(sql<boolean>`kind = 'state.carried'`)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    for (const row of rows) if (row.payload !== null) yield row
    after = rows.at(-1)?.seq ?? after
    if (rows.length < PAGE) return
  }
}

/**
 * Returns all entries with the same content: carried copies and their originals, without the given
 * ones.
 */
export async function sameContent(
  db: Db,
  orgId: string,
  entries: readonly StoredEntry[],
): Promise<number[]> {
  const given = new Set(entries.map(({ seq }) => seq))
  const origins = new Set(entries.map((entry) => parseCarried(entry)?.seq ?? entry.seq))
  const found = [...origins]
  for await (const entry of carriedEntries(db, orgId, { from: 0 })) {
    const carried = parseCarried(entry)
    if (carried && carried.payload !== null && origins.has(carried.seq)) found.push(entry.seq)
  }
  return found.filter((seq) => !given.has(seq))
}
