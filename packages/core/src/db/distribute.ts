import { sql } from 'kysely'
import type { Transaction } from 'kysely'
import { createDirectory } from './directory.ts'
import { isDistributed, noteDistributed } from './distributed.ts'
import type { Placement } from './distributed.ts'
import { migrationTables } from './migration-set.ts'
import type { MigrationSet } from './migration-set.ts'
import { dialectOf, on } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/** The database cannot be distributed; the message says what is missing. */
export class NotDistributable extends Error {
  override name = 'NotDistributable'
}

type Tx = Transaction<never>

/** The first table; the others are placed on the same nodes as the rows of its organizations. */
const FIRST = 'organization'

/**
 * Places the tables of these sets on the nodes of a Citus cluster, all or none, and returns the
 * tables that were not placed before. Throws `NotDistributable`, before it changes anything, without
 * a cluster, and the first time also while a server is connected.
 */
export async function distribute(
  db: AnyDatabase,
  sets: readonly MigrationSet[],
): Promise<readonly string[]> {
  await refuseWithoutCitus(db)
  const placed = await on<never>(db)
    .transaction()
    .execute(async (tx) => {
      // The data may be large, and our sessions have short limits.
      await sql`select set_config('statement_timeout', '0', true),
        set_config('citus.multi_shard_modify_mode', 'sequential', true),
        set_config('citus.enable_unsafe_triggers', 'on', true)`.execute(tx)
      const isFirst = !(await isDistributed(tx))
      const tables = placementsOf(sets)
      if (isFirst) {
        await refuseWhileUsed(tx)
        await createDirectory(
          tx,
          [...tables]
            .filter(([, placement]) => placement.includes('directory'))
            .map(([name]) => name),
        )
        for (const name of ['directory_key', 'directory_organization']) tables.set(name, 'local')
      }
      return placeAll(tx, tables)
    })
  noteDistributed(db)
  return placed
}

/** The placement of every table, `organization` first; the tables of migrations included. */
function placementsOf(sets: readonly MigrationSet[]): Map<string, Placement> {
  const tables = new Map<string, Placement>([[FIRST, 'by id']])
  for (const set of sets) {
    for (const [name, placement] of Object.entries(set.placements ?? {}))
      tables.set(name, placement)
    for (const name of migrationTables(set)) tables.set(name, 'local')
  }
  return tables
}

async function refuseWithoutCitus(db: AnyDatabase): Promise<void> {
  if (dialectOf(db) !== 'postgres') throw new NotDistributable('SQLite cannot be distributed')
  const { rows } = await sql`select from pg_extension where extname = 'citus'`.execute(db)
  if (rows.length === 0)
    throw new NotDistributable('The extension citus is not installed: `create extension citus`')
  const nodes = await sql<{ groupid: number; here: boolean }>`select groupid,
    groupid = (select groupid from pg_dist_local_group) as here from pg_dist_node`.execute(db)
  if (!nodes.rows.some(({ groupid, here }) => groupid === 0 && here))
    throw new NotDistributable(
      'This node is not a coordinator that other nodes can reach: connect to the coordinator, and run `select citus_set_coordinator_host(…)` there',
    )
  if (nodes.rows.length === 1)
    throw new NotDistributable('The cluster has no worker: `select citus_add_node(…)` adds one')
}

/**
 * A server learns from its next connection that the tables are distributed. Until then, it would
 * create keys that are not in the directory. The names of sessions of other roles may be hidden.
 */
async function refuseWhileUsed(tx: Tx): Promise<void> {
  const { rows } = await sql<{ role: string; count: number }>`
    select s.usename as role, count(*) as count from pg_stat_activity s
    join pg_roles r on r.oid = s.usesysid
    where s.datname = current_database() and s.pid <> pg_backend_pid()
      and (s.application_name = 'remit' or s.application_name is null and not r.rolsuper)
    group by s.usename order by s.usename`.execute(tx)
  if (rows.length === 0) return
  const found = rows.map(({ role, count }) => `${count} of the role ${role}`).join(', ')
  throw new NotDistributable(`Stop all servers first: the database has connections: ${found}`)
}

async function placeAll(tx: Tx, tables: ReadonlyMap<string, Placement>): Promise<string[]> {
  const known = await sql<{ name: string }>`
    select logicalrelid::text as name from pg_dist_partition`.execute(tx)
  const done = new Set(known.rows.map(({ name }) => name))
  const waiting = [...tables].filter(([name]) => !done.has(name))
  const links = await dropForeignKeys(
    tx,
    waiting.map(([name]) => name),
  )
  for (const [name, placement] of waiting) {
    if (placement === 'local')
      await sql`select citus_add_local_table_to_metadata(${name})`.execute(tx)
    else await distributeTable(tx, name, placement)
  }
  for (const link of links) await sql.raw(link).execute(tx)
  return waiting.map(([name]) => name)
}

async function distributeTable(tx: Tx, name: string, placement: Placement): Promise<void> {
  const column = placement === 'by id' ? 'id' : 'org_id'
  await widenKeys(tx, name, column)
  const beside = name === FIRST ? 'none' : FIRST
  await sql`select create_distributed_table(${name}, ${column}, colocate_with => ${beside})`.execute(
    tx,
  )
  await sql`select truncate_local_data_after_distributing_table(${name}::regclass)`.execute(tx)
}

/**
 * A unique key of a distributed table contains the organization. Ids of keys are random and do not
 * repeat; the names of organizations are unique in the directory.
 */
async function widenKeys(tx: Tx, table: string, column: string): Promise<void> {
  const { rows } = await sql<{ name: string; type: 'p' | 'u'; columns: string[] }>`
    select c.conname as name, c.contype as type, array(select a.attname::text
      from unnest(c.conkey) with ordinality as k(num, at)
      join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.num order by k.at) as columns
    from pg_constraint c where c.conrelid = ${table}::regclass and c.contype in ('p', 'u')`.execute(
    tx,
  )
  for (const { name, type, columns } of rows) {
    if (columns.includes(column)) continue
    await sql`alter table ${sql.table(table)} drop constraint ${sql.ref(name)}`.execute(tx)
    const key = sql.join([column, ...columns].map((part) => sql.ref(part)))
    if (type === 'p')
      await sql`alter table ${sql.table(table)} add primary key (${key})`.execute(tx)
    else await sql`create index on ${sql.table(table)} (${key})`.execute(tx)
  }
}

/** Foreign keys cannot link a placed table with another one; returns statements to create them. */
async function dropForeignKeys(tx: Tx, tables: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ table: string; name: string; definition: string }>`
    select conrelid::regclass::text as table, quote_ident(conname) as name,
      pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and conrelid::regclass::text = any(${tables})`.execute(
    tx,
  )
  for (const { table, name } of rows)
    await sql.raw(`alter table ${table} drop constraint ${name}`).execute(tx)
  return rows.map(
    ({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`,
  )
}
