import { randomBytes, hash } from 'node:crypto'
import { copyFileSync, rmSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrationSetsOf, distribute, migrate, openDatabase } from '@remit/core/db/open'
import type { MigrationSet } from '@remit/core/db/open'
import type { Dialect } from '@remit/core/db'
import type { Module } from '@remit/core/module'
import { coreModule } from '@remit/core/server'
import { testServerUrl } from './postgres-server.ts'
import { isCompleteRun, isFullRun } from './runs.ts'
import { scratchFolder } from './scratch.ts'
import { databaseAt, runOften, runStatement, joinNodes } from './run-statement.ts'

/** The URLs of the nodes of a Citus cluster, if the tests run on one; the coordinator first. */
export const citusNodes = (): readonly string[] =>
  (process.env['REMIT_TEST_CITUS_NODES'] ?? '').split(' ').filter((url) => url !== '')

/**
 * Tests of statements that differ between the databases run on both; `pnpm test:citus` on a cluster
 * instead.
 */
export const DIALECTS: readonly Dialect[] =
  citusNodes().length > 0 ? ['postgres'] : ['sqlite', 'postgres']

/**
 * Other tests run on one at random, or on `REMIT_TEST_DIALECT`: `sqlite` or `postgres`; in a complete run on
 * both. Throws for another value, since a run without tests would pass.
 */
export function someDialects(): readonly Dialect[] {
  const chosen = process.env['REMIT_TEST_DIALECT']
  if (chosen === undefined)
    return isCompleteRun ? DIALECTS : [Math.random() < 0.5 ? 'sqlite' : 'postgres']
  const found = DIALECTS.filter((dialect) => chosen === dialect)
  if (found.length > 0) return found
  throw new Error(`REMIT_TEST_DIALECT must be one of ${DIALECTS.join(', ')}`)
}

/**
 * Tests that kill processes, send hostile requests, read query plans, attack, prune or verify ledgers, or
 * depend on locks or snapshots run on both in a full run.
 */
export const fullDialects = (): readonly Dialect[] => (isFullRun ? DIALECTS : someDialects())

export interface TestDatabase {
  readonly url: string
  drop(): Promise<unknown>
}

/** Creates a database, empty or with these migrations; `drop` removes it. */
export const createDatabase = (
  dialect: Dialect,
  migrated: readonly MigrationSet[] = [],
): Promise<TestDatabase> =>
  dialect === 'postgres' ? createPostgres(migrated) : createSqlite(migrated)

/** Creates a database with the tables of the core and of these modules. */
export const createMigratedDatabase = (
  dialect: Dialect,
  modules: readonly Module[] = [],
): Promise<TestDatabase> => createDatabase(dialect, migrationSetsOf([coreModule, ...modules]))

/** Returns a copy of a database that nobody has open. */
export async function copyDatabase(url: string): Promise<TestDatabase> {
  if (url.startsWith('postgres'))
    return copyPostgres([testServerUrl()], new URL(url).pathname.slice(1))
  const copy = await createSqlite([])
  copyFileSync(url.slice('sqlite:'.length), copy.url.slice('sqlite:'.length))
  return copy
}

async function createSqlite(migrated: readonly MigrationSet[]): Promise<TestDatabase> {
  const folder = scratchFolder('test')
  const path = join(folder, 'remit.db')
  if (migrated.length > 0) await copySqliteTemplate(migrated, path)
  return {
    url: `sqlite:${path}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function createPostgres(migrated: readonly MigrationSet[]): Promise<TestDatabase> {
  const server = testServerUrl()
  if (migrated.length === 0) return copyPostgres([server], 'template1')
  const nodes = citusNodes()
  return copyPostgres(
    nodes.length > 0 ? nodes : [server],
    await postgresTemplate(server, nodes, migrated),
  )
}

/** Copies a database, on every node of a cluster. */
async function copyPostgres(nodes: readonly string[], template: string): Promise<TestDatabase> {
  const name = `remit_${randomBytes(8).toString('hex')}`
  // Copying files is several times faster than the default, which logs every page.
  const copy = `create database ${name} template ${template} strategy file_copy`
  await Promise.all(nodes.map((node) => runOften(node, copy)))
  return {
    url: databaseAt(nodes[0] ?? '', name),
    // Dropping one that Citus uses takes seconds; the cluster of a test run ends with it.
    drop: async () =>
      nodes.length === 1 && runOften(nodes[0] ?? '', `drop database ${name} with (force)`),
  }
}

type Sets = readonly MigrationSet[]

const sqliteTemplates = new Map<string, Promise<Buffer>>()
const postgresTemplates = new Map<string, Promise<string>>()

/** Writes a SQLite database with these migrations, which run once per test process. */
async function copySqliteTemplate(sets: Sets, path: string): Promise<void> {
  const content = await once(sqliteTemplates, keyOf(sets), () => makeSqliteTemplate(sets))
  writeFileSync(path, content, { mode: 0o600 })
}

/**
 * Returns the name of a database on `server` with these migrations, which run once per test run. On
 * the nodes of a cluster, its tables are distributed.
 */
const postgresTemplate = (
  server: string,
  nodes: readonly string[],
  sets: Sets,
): Promise<string> => {
  const name = `remit_template_${process.env['REMIT_TEST_RUN'] ?? process.pid}_${keyOf(sets)}`
  return once(postgresTemplates, name, () =>
    nodes.length > 0
      ? makeCitusTemplate(nodes, sets, name)
      : makePostgresTemplate(server, sets, name),
  )
}

function keyOf(sets: Sets): string {
  const sources = sets.map(({ name, migrations }) => [
    name,
    ...Object.entries(migrations).map(([step, migration]) => [
      step,
      // Includes the text of functions: in watch mode they change.
      ...Object.values(migration).map(String),
    ]),
  ])
  return hash('sha256', JSON.stringify(sources), 'hex').slice(0, 16)
}

function once<T>(made: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = made.get(key) ?? make()
  made.set(key, known)
  return known
}

async function makeSqliteTemplate(sets: Sets): Promise<Buffer> {
  const folder = scratchFolder('template')
  try {
    const path = join(folder, 'template.db')
    await migrateAt(`sqlite:${path}`, sets)
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function makePostgresTemplate(server: string, sets: Sets, name: string): Promise<string> {
  const known = await runStatement(server, `select from pg_database where datname = '${name}'`)
  if (known.length > 0) return name
  // Test processes may create the same one concurrently: it gets its name when it is complete.
  const draft = `remit_draft_${randomBytes(8).toString('hex')}`
  await runStatement(server, `create database ${draft}`)
  await migrateAt(databaseAt(server, draft), sets)
  try {
    await runStatement(server, `alter database ${draft} rename to ${name}`)
  } catch (error) {
    if ((error as { code?: string }).code !== '42P04') throw error
    await runStatement(server, `drop database ${draft}`)
  }
  return name
}

/** The database is not copied while a process is connected, as that of Citus always is. */
async function makeCitusTemplate(
  nodes: readonly string[],
  sets: Sets,
  name: string,
): Promise<string> {
  const [coordinator = ''] = nodes
  const known = await runStatement(coordinator, `select from pg_database where datname = '${name}'`)
  if (known.length > 0) return name
  const draft = `remit_draft_${randomBytes(8).toString('hex')}`
  for (const node of nodes) await runStatement(node, `create database ${draft}`)
  await joinNodes(nodes.map((node) => databaseAt(node, draft)))
  await migrateAt(databaseAt(coordinator, draft), sets, true)
  for (const node of nodes) {
    await runStatement(node, `alter database ${draft} allow_connections false`)
    await runStatement(
      node,
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${draft}'`,
    )
  }
  for (const node of nodes.toReversed())
    await runStatement(node, `alter database ${draft} rename to ${name}`)
  return name
}

/** A connection of a test itself, which waits longer on a busy machine than a server would. */
export const openPatiently = <T>(
  url: string,
  options: Parameters<typeof openDatabase>[1] = {},
): ReturnType<typeof openDatabase<T>> => openDatabase<T>(url, { connectMs: 30_000, ...options })

async function migrateAt(url: string, sets: Sets, distributes = false): Promise<void> {
  // On a cluster, every table is created on every node.
  const db = openPatiently<never>(url, { answerMs: 600_000, applicationName: 'test' })
  try {
    await migrate(db, sets)
    if (distributes) await distribute(db, sets)
  } finally {
    // Closing checkpoints the log of SQLite: the file alone is the database.
    await db.destroy()
  }
}
