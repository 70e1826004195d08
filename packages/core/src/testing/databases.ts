import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Dialect } from '../db/portable.ts'

/** Every test of a store or of the ledger runs on both. */
export const DIALECTS: readonly Dialect[] = ['sqlite', 'postgres']

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** A new empty database; `drop` removes it. */
export const createDatabase = (dialect: Dialect): Promise<TestDatabase> =>
  dialect === 'postgres' ? createPostgres() : Promise.resolve(createSqlite())

function createSqlite(): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'remit-test-'))
  return {
    url: `sqlite:${join(folder, 'remit.db')}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function createPostgres(): Promise<TestDatabase> {
  const server = process.env['REMIT_TEST_DATABASE_URL']
  if (!server)
    throw new Error(
      'REMIT_TEST_DATABASE_URL is not set; vitest starts a server in its global setup',
    )
  const name = `remit_${randomBytes(8).toString('hex')}`
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  await run(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.toString(), drop: () => run(`drop database ${name} with (force)`) }
}
