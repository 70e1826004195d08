import { sql } from 'kysely'
import type { ArchiveRules } from '../../db/archived.ts'
import type { Database } from '../../db/open.ts'
import { organizationTables } from '../../db/organization-tables.ts'
import type { OrganizationTable } from '../../db/organization-tables.ts'
import type { CoreTables } from '../../db/schema.ts'
import { recordedOrigin } from '../../ledger/store/cut.ts'
import { findHead } from '../../ledger/store/store.ts'
import { missingHead } from '../../ledger/write/head-guard.ts'
import { findOrganizationById } from '../administration.ts'
import { organizationRecord } from '../record.ts'

const FORMAT = 'remit-organization/v1'
const PAGE = 500

type Row = Readonly<Record<string, string | number | null>>
type Db = Database<CoreTables>

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
