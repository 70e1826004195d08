import { randomBytes } from 'node:crypto'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { migrationSetsOf } from '@remit/core/db/open'
import type { MigrationSet } from '@remit/core/db/open'
import type { Dialect } from '@remit/core/db'
import type { Module } from '@remit/core/module'
import { coreModule } from '@remit/core/server'
import { testServerUrl } from './postgres-server.ts'
import { isCompleteRun, isFullRun } from './runs.ts'
import { scratchFolder } from './scratch.ts'
import { databaseAt, runOften } from './run-statement.ts'
import { copySqliteTemplate, postgresTemplate } from './templates.ts'

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
 * Tests that kill processes, send hostile requests, read query plans, or depend on locks or snapshots
 * run on both in a full run.
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
