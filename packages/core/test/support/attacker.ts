import type { Transaction } from 'kysely'
import { sql } from 'kysely'
import type { Database } from '../../src/db/open.ts'
import { dialectOf } from '../../src/db/portable.ts'
import { bulkInsert } from '../../src/db/write-rows.ts'
import type { CoreTables, LedgerEntryRow } from '../../src/db/schema.ts'
import { commitmentOf, entryHash, headerOf } from '../../src/ledger/format/entry.ts'
import { MerkleTree, encodeFrontier } from '../../src/ledger/format/merkle.ts'

/** Full access to the database, without the key that signs: everything but a valid signature. */
export type Attacked = Transaction<CoreTables>

/** Takes the guard rails off, as anyone with full access would first. */
export async function dropGuards(db: Database<CoreTables>): Promise<void> {
  const table = dialectOf(db) === 'postgres' ? 'on ledger_entry' : ''
  for (const name of ['ledger_entry_is_final', 'ledger_entry_stays']) {
    await sql.raw(`drop trigger ${name} ${table}`).execute(db)
  }
}

class RollBack extends Error {}

/** Runs `look` after `attack` and rolls both back. */
export async function afterAttack<T>(
  db: Database<CoreTables>,
  attack: (tx: Attacked) => Promise<unknown>,
  look: (tx: Attacked) => Promise<T>,
): Promise<T> {
  let found: { readonly value: T } | null = null
  try {
    await db.transaction().execute(async (tx) => {
      await attack(tx)
      found = { value: await look(tx) }
      throw new RollBack()
    })
  } catch (error) {
    if (!(error instanceof RollBack)) throw error
  }
  return found!.value
}

export const readEntries = (tx: Attacked, orgId: string): Promise<LedgerEntryRow[]> =>
  tx.selectFrom('ledger_entry').selectAll().where('org_id', '=', orgId).orderBy('seq').execute()

export const setEntry = (
  tx: Attacked,
  orgId: string,
  seq: number,
  change: Partial<LedgerEntryRow>,
): Promise<unknown> =>
  tx
    .updateTable('ledger_entry')
    .set(change)
    .where('org_id', '=', orgId)
    .where('seq', '=', seq)
    .execute()

export const cutFrom = (tx: Attacked, orgId: string, seq: number): Promise<unknown> =>
  tx.deleteFrom('ledger_entry').where('org_id', '=', orgId).where('seq', '>=', seq).execute()

/** Gives the entries from `from` on new links and hashes; commitments follow the payloads. */
export function relink(rows: readonly LedgerEntryRow[], from: number): LedgerEntryRow[] {
  const linked = rows.slice(0, from)
  for (const [i, row] of rows.slice(from).entries()) {
    const prev_hash = linked.at(-1)?.hash ?? row.prev_hash
    const commitment =
      row.salt !== null && row.payload !== null
        ? commitmentOf(row.salt, row.payload)
        : row.commitment
    const fresh = { ...row, seq: from + i, prev_hash, commitment }
    linked.push({ ...fresh, hash: entryHash(headerOf(fresh)) })
  }
  return linked
}

const COLUMNS = {
  org_id: 'text',
  seq: 'bigint',
  prev_hash: 'text',
  hash: 'text',
  recorded_at: 'text',
  kind: 'text',
  commitment: 'text',
  salt: 'text',
  payload: 'text',
  agent_id: 'text',
  actor_id: 'text',
  action: 'text',
  decision: 'text',
} as const

/** Puts these entries in the place of a ledger's own. */
export async function replaceEntries(
  tx: Attacked,
  orgId: string,
  rows: readonly LedgerEntryRow[],
): Promise<void> {
  await cutFrom(tx, orgId, 0)
  await bulkInsert(tx, 'ledger_entry', COLUMNS, rows)
}

/** Makes head and nodes those of the entries that are there; notes stay as they are. */
export async function repairHead(
  tx: Attacked,
  orgId: string,
): Promise<{ size: number; root: string }> {
  const levels: string[][] = []
  const tree = new MerkleTree(undefined, (level, hash) => (levels[level] ??= []).push(hash))
  const rows = await readEntries(tx, orgId)
  for (const { hash } of rows) tree.append(hash)
  const { hash, recorded_at } = rows.at(-1)!
  const head = { size: rows.length, hash, recorded_at, frontier: encodeFrontier(tree.frontier()) }
  await tx.updateTable('ledger_head').set(head).where('org_id', '=', orgId).execute()
  await tx.deleteFrom('ledger_node').where('org_id', '=', orgId).execute()
  for (const [level, hashes = []] of levels.entries()) {
    for (const [idx, node] of hashes.entries()) {
      const row = { org_id: orgId, level, idx, hash: node }
      await tx.insertInto('ledger_node').values(row).execute()
    }
  }
  return { size: rows.length, root: tree.root() }
}
