import { hash, randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { distribute, migrate, openDatabase } from '@remit/core/db/open'
import type { MigrationSet } from '@remit/core/db/open'
import { joinNodes } from './join-nodes.ts'
import { databaseAt, runStatement } from './run-statement.ts'
import { scratchFolder } from './scratch.ts'

type Sets = readonly MigrationSet[]

const sqliteTemplates = new Map<string, Promise<Buffer>>()
const postgresTemplates = new Map<string, Promise<string>>()

/** Writes a SQLite database with these migrations, which run once per test process. */
export async function copySqliteTemplate(sets: Sets, path: string): Promise<void> {
  const content = await once(sqliteTemplates, keyOf(sets), () => makeSqliteTemplate(sets))
  writeFileSync(path, content, { mode: 0o600 })
}

/**
 * Returns the name of a database on `server` with these migrations, which run once per test run. On
 * the nodes of a cluster, its tables are distributed.
 */
export const postgresTemplate = (
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

async function migrateAt(url: string, sets: Sets, distributes = false): Promise<void> {
  // On a cluster, every table is created on every node.
  const db = openDatabase<never>(url, { answerMs: 600_000, applicationName: 'test' })
  try {
    await migrate(db, sets)
    if (distributes) await distribute(db, sets)
  } finally {
    // Closing checkpoints the log of SQLite: the file alone is the database.
    await db.destroy()
  }
}
