import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { column, dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * Number of minor releases up to this one. Release N adds tables and columns, N + 1 stops using the
 * old ones, N + 2 may remove them: tables of the next release still serve this one.
 */
export const SCHEMA_RELEASE = 1

/** The tables belong to a release whose tables may lack what this one uses. */
export class TablesTooNew extends Error {
  constructor(found: number) {
    super(
      `The tables belong to release ${found}, but this server supports releases up to ${SCHEMA_RELEASE + 1}: start a newer server`,
    )
    this.name = 'TablesTooNew'
  }
}

export const schemaReleaseMigration: Migration = {
  async up(db: Kysely<never>) {
    const { integer } = column(db)
    await sql`create table schema_release (release ${integer} not null)`.execute(db)
    await sql`insert into schema_release (release) values (0)`.execute(db)
  },
}

/** Throws `TablesTooNew` for tables that are newer than those of the next release. */
export async function refuseNewerTables(db: AnyDatabase): Promise<void> {
  const found = await releaseOf(db)
  if (found !== null && found > SCHEMA_RELEASE + 1) throw new TablesTooNew(found)
}

/** Records the release whose migrations ran, unless a newer one did before. */
export async function recordRelease(db: AnyDatabase): Promise<void> {
  if ((await releaseOf(db)) === null) return
  await sql`update schema_release set release = ${SCHEMA_RELEASE}
    where release < ${SCHEMA_RELEASE}`.execute(db)
}

/** Returns the release of the tables; null for tables from before releases were recorded. */
async function releaseOf(db: AnyDatabase): Promise<number | null> {
  if (!(await hasTable(db, 'schema_release'))) return null
  const found = await sql<{ release: number }>`select release from schema_release`.execute(db)
  return found.rows[0]?.release ?? null
}

/** Returns whether the database has a table of this name, in the schema of the product. */
export async function hasTable(db: AnyDatabase, name: string): Promise<boolean> {
  const table =
    dialectOf(db) === 'postgres'
      ? sql`select to_regclass(${name}) as name`
      : sql`select max(name) as name from sqlite_master where name = ${name}`
  const { rows } = await sql<{ name: string | null }>`${table}`.execute(db)
  return (rows[0]?.name ?? null) !== null
}
