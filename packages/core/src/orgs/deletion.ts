import { sql } from 'kysely'
import { isoTime } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import { fail, invalid } from '../base/errors.ts'
import { SYSTEM } from '../caller/caller.ts'
import type { Db } from '../db/open.ts'
import type { DeletedOrganizationRow, OrganizationRow } from '../db/schema.ts'
import { emptyLog, overwriting } from '../db/scrub.ts'
import { makeDurable, on } from '../db/portable.ts'
import { unavailable } from '../db/failure.ts'
import { formatEntryLine } from '../ledger/read/export-entries.ts'
import { findHead } from '../ledger/store/store.ts'
import { firstOf } from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import { findOrganizationById, OPERATOR, updateForOperator } from './administration.ts'
import type { EntryExtras } from './administration.ts'
import { organizationRecord } from './organizations.ts'
import type { OrganizationRecord } from './organizations.ts'
import { deleteInBatches } from '../db/cleanup.ts'
import { isDistributed } from '../db/distributed.ts'
import { organizationTables } from '../db/org-table.ts'
import type { OrganizationTable } from '../db/org-table.ts'
import type { DirectoryTables } from '../db/directory.ts'
import type { ArchiveRules } from '../db/archived.ts'
import { recordedOrigin } from '../ledger/store/cut.ts'
import { missingHead } from '../ledger/write/head-guard.ts'
import { setCut } from './prune/cut.ts'

/** Days between the order and the deletion, unless the operator names another number. */
export const DELETION_DAYS = 7
const MAX_DAYS = 365
const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Orders the deletion of a suspended organization. Its rows can be removed after some days; until
 * then, the end of the suspension cancels the deletion.
 */
export async function scheduleDeletion(
  writer: Writer,
  orgId: string,
  days: number,
  noted: EntryExtras = {},
): Promise<OrganizationRecord> {
  if (!Number.isInteger(days) || days < 0 || days > MAX_DAYS)
    throw invalid('days', `must be a whole number from 0 to ${MAX_DAYS}`)
  return updateForOperator(writer, orgId, noted, (row, recordedAt) => {
    refuseActive(row)
    return { ...row, delete_after: isoTime(Date.parse(recordedAt) + days * DAY_MS) }
  })
}

/** A deletion with the end of the ledger, which stays. */
export interface Deletion {
  readonly id: string
  readonly deleted_at: string
  readonly ledger: {
    readonly origin: string
    readonly size: number
    readonly entry: string
    readonly checkpoint: string
  }
  readonly removed: RemovedRows
  /** False while SQLite's write-ahead log still contains old pages. */
  readonly log_emptied: boolean
}

interface DeletionDeps {
  readonly db: Db
  readonly writer: Writer
  readonly clock: Clock
}

/**
 * Removes a suspended organization whose deletion is due: writes its last entry, keeps the end of its
 * ledger, and removes all of its rows. Repeat it after an interruption. Throws `organization_active`
 * or `deletion_not_due`.
 */
export async function deleteOrganization(
  { db, writer, clock }: DeletionDeps,
  orgId: string,
  noted: EntryExtras = {},
): Promise<Deletion> {
  const kept = await findDeleted(db, orgId)
  if (!kept)
    await endLedger(db, writer, clock, orgId, noted).catch(async (error: unknown) => {
      // Another deletion at the same time was first.
      if (!(await hasEnded(db, orgId))) throw error
    })
  const { id, deleted_at, origin, size, entry, note } = kept ?? (await keepEnd(db, orgId))
  const removed = await overwriting(db, () => removeRows(db, orgId))
  return {
    id,
    deleted_at,
    ledger: { origin, size, entry, checkpoint: note },
    removed,
    log_emptied: await emptyLog(db),
  }
}

/** Returns the end of the ledger of a deleted organization. */
export const findDeleted = (db: Db, orgId: string): Promise<DeletedOrganizationRow | undefined> =>
  db.selectFrom('deleted_organization').selectAll().where('id', '=', orgId).executeTakeFirst()

/** Returns the ends of the ledgers of organizations that were deleted since a time. */
export async function listDeleted(db: Db, since: string): Promise<DeletedOrganizationRow[]> {
  return db
    .selectFrom('deleted_organization')
    .selectAll()
    .where('deleted_at', '>=', since)
    .orderBy('id')
    .execute()
}

/** Returns true if the last entry is written. */
async function hasEnded(db: Db, orgId: string): Promise<boolean> {
  if (await findDeleted(db, orgId)) return true
  const row = await db
    .selectFrom('organization')
    .select('deleted_at')
    .where('id', '=', orgId)
    .executeTakeFirst()
  return row !== undefined && row.deleted_at !== null
}

/** Writes the last entry; the writer refuses all work after it. */
async function endLedger(
  db: Db,
  writer: Writer,
  clock: Clock,
  orgId: string,
  noted: EntryExtras = {},
): Promise<void> {
  const now = clock.now()
  if ((await findOrganizationById(db, orgId)).deleted_at !== null) return
  await writer.change(orgId, OPERATOR, async ({ tx, recordedAt }) => {
    const row = await findOrganizationById(tx, orgId)
    refuseActive(row)
    refuseEarly(row, now)
    await tx
      .updateTable('organization')
      .set({ deleted_at: recordedAt })
      .where('id', '=', orgId)
      .execute()
    await tx.deleteFrom('console_session').where('org_id', '=', orgId).execute()
    await tx.deleteFrom('ingest_key').where('org_id', '=', orgId).execute()
    const data = { organization_id: orgId, delete_after: row.delete_after, ...noted }
    return {
      entries: [{ kind: 'organization.deleted', actor: SYSTEM, data }],
      reply: (recorded) => firstOf(recorded).row.seq,
    }
  })
}

function refuseActive({ name, suspended_at }: OrganizationRow): void {
  if (suspended_at === null)
    throw fail('organization_active', `The organization ${name} must be suspended first`)
}

function refuseEarly({ name, delete_after }: OrganizationRow, now: number): void {
  if (delete_after === null)
    throw fail('deletion_not_due', `No deletion of the organization ${name} is scheduled`)
  if (now < Date.parse(delete_after))
    throw fail(
      'deletion_not_due',
      `The organization ${name} can be deleted from ${delete_after} on`,
    )
}

/** Copies the end of the ledger to the table that stays. */
async function keepEnd(db: Db, orgId: string): Promise<DeletedOrganizationRow> {
  return db.transaction().execute(async (tx) => {
    await makeDurable(tx)
    const head = await findHead(tx, orgId)
    const last = await tx
      .selectFrom('ledger_entry')
      .selectAll()
      .where('org_id', '=', orgId)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (!head || !last) {
      const kept = await findDeleted(tx, orgId)
      if (kept) return kept
      throw fail('organization_not_found')
    }
    const row = {
      id: orgId,
      deleted_at: last.recorded_at,
      origin: head.origin,
      size: head.size,
      entry: formatEntryLine(last).trimEnd(),
      note: head.note,
    }
    // Another deletion may have kept the same end meanwhile.
    await tx
      .insertInto('deleted_organization')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    return row
  })
}

type RemovedRows = Readonly<Record<string, number>>

/** Background work that read its rows before may write once more. */
const MAX_PASSES = 20

/**
 * Removes every row of an organization whose last entry is written, in small steps. Can be repeated
 * after an interruption. Throws `overloaded` if rows are written meanwhile.
 */
async function removeRows(db: Db, orgId: string): Promise<RemovedRows> {
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

async function removeOnce(db: Db, orgId: string, removed: Record<string, number>): Promise<number> {
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
async function cutWhole(db: Db, orgId: string): Promise<void> {
  const head = await findHead(db, orgId)
  if (!head) return
  await setCut(db, orgId, head)
}

const FORMAT = 'remit-organization/v1'
const PAGE = 500

type Row = Readonly<Record<string, string | number | null>>
/**
 * Returns the configuration and state of an organization as NDJSON, page by page: a header, one line
 * per row, and an end with their number. Together with the export of the ledger it is everything that
 * the server stores about the organization, without secrets and their hashes.
 */
export async function* exportConfiguration(
  db: Db,
  rules: ArchiveRules,
  orgId: string,
  at: { readonly now: string; readonly version: string },
): AsyncGenerator<string> {
  const organization = organizationRecord(await findOrganizationById(db, orgId))
  const head = await findHead(db, orgId)
  if (!head) throw missingHead()
  const tables = (await organizationTables(db)).filter(
    ({ name }) => (rules[name] ?? 'none') !== 'none',
  )
  const origin = (await recordedOrigin(db, orgId)) ?? head.origin
  yield line({
    type: 'header',
    format: FORMAT,
    organization,
    exported_at: at.now,
    server_version: at.version,
    ledger: { origin, size: head.size, hash: head.hash },
    tables: tables.map(({ name }) => name),
  })
  let rows = 0
  for (const table of tables) {
    for await (const page of pagesOf(db, table, orgId)) {
      rows += page.length
      yield page
        .map((row) => line({ type: 'row', table: table.name, row: shown(row, rules[table.name]) }))
        .join('')
    }
  }
  yield line({ type: 'end', rows })
}

/** A row as it is archived: the organization is in the header. */
function shown(row: Row, rule: ArchiveRules[string] | undefined): Row {
  const without = new Set(['org_id', ...(typeof rule === 'object' ? rule.without : [])])
  return Object.fromEntries(Object.entries(row).filter(([name]) => !without.has(name)))
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

/** The rows of a table in the order of its key. */
async function* pagesOf(
  db: Db,
  table: OrganizationTable,
  orgId: string,
): AsyncGenerator<readonly Row[]> {
  let last: Row | undefined
  for (;;) {
    const rows = await pageAfter(db, table, orgId, last)
    if (rows.length > 0) yield rows
    last = rows.at(-1)
    if (rows.length < PAGE) return
  }
}

async function pageAfter(
  db: Db,
  { name, key }: OrganizationTable,
  orgId: string,
  last: Row | undefined,
): Promise<readonly Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const after =
    last === undefined
      ? sql``
      : sql`and (${columns}) > (${sql.join(key.map((column) => last[column]))})`
  const { rows } = await sql<Row>`select * from ${sql.table(name)}
    where org_id = ${orgId} ${after} order by ${columns} limit ${sql.lit(PAGE)}`.execute(db)
  return rows
}
