import { sql } from 'kysely'
import { deleteInBatches } from '../../db/delete-in-batches.ts'
import { unavailable } from '../../db/failure.ts'
import { isDistributed } from '../../db/distributed.ts'
import type { Database } from '../../db/open.ts'
import { organizationTables } from '../../db/organization-tables.ts'
import { on } from '../../db/portable.ts'
import type { DirectoryTables } from '../../db/directory.ts'
import type { CoreTables } from '../../db/schema.ts'
import { findHead } from '../../ledger/store/store.ts'

/** Number of removed rows by table. */
export type RemovedRows = Readonly<Record<string, number>>

/** Background work that read its rows before may write once more. */
const MAX_PASSES = 20

/**
 * Removes every row of an organization whose last entry is written, in small steps. Can be repeated
 * after an interruption. Throws `overloaded` if rows are written meanwhile.
 */
export async function removeRows(db: Database<CoreTables>, orgId: string): Promise<RemovedRows> {
  await cutWhole(db, orgId)
  const removed: Record<string, number> = {}
  for (let pass = 0; (await removeOnce(db, orgId, removed)) > 0; pass++)
    // The deletion must not end while rows are left; it can be repeated.
    if (pass === MAX_PASSES) throw unavailable('overloaded')
  const { numDeletedRows } = await db
    .deleteFrom('organization')
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow()
  if (await isDistributed(db))
    await on<DirectoryTables>(db)
      .deleteFrom('directory_organization')
      .where('id', '=', orgId)
      .execute()
  if (numDeletedRows > 0n) removed['organization'] = Number(numDeletedRows)
  return removed
}

async function removeOnce(
  db: Database<CoreTables>,
  orgId: string,
  removed: Record<string, number>,
): Promise<number> {
  const { signal } = new AbortController()
  let count = 0
  for (const { name, key } of inOrder(await organizationTables(db))) {
    const rows = await deleteInBatches(db, orgId, signal, { table: name, key, where: sql`1 = 1` })
    if (rows > 0) removed[name] = (removed[name] ?? 0) + rows
    count += rows
  }
  return count
}

/** First the rows that let someone sign in, and entries before the cut that permits their removal. */
const FIRST = ['ingest_key', 'agent_credential', 'console_session', 'ledger_entry', 'ledger_head']

const inOrder = <T extends { readonly name: string }>(tables: readonly T[]): T[] =>
  tables.toSorted((a, b) => rank(a.name) - rank(b.name))

const rank = (name: string): number => {
  const at = FIRST.indexOf(name)
  return at < 0 ? FIRST.length : at
}

/** Entries can be removed only below a cut. */
async function cutWhole(db: Database<CoreTables>, orgId: string): Promise<void> {
  const head = await findHead(db, orgId)
  if (!head) return
  const { size, hash, recorded_at, frontier, vkey } = head
  const cut = { size, hash, recorded_at, frontier, vkey }
  await db
    .insertInto('ledger_cut')
    .values({ org_id: orgId, ...cut })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(cut))
    .execute()
}
