import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, DIALECTS } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { coreMigrations } from './core-migrations.ts'
import { migrate, pendingMigrations, waitForMigrations } from './migrate.ts'
import { openDatabase } from './open.ts'
import { SCHEMA_RELEASE } from './schema-release.ts'

const sets = [{ name: 'core', migrations: coreMigrations }]

describe.each(DIALECTS)('the release of the tables on %s', (dialect) => {
  let created: TestDatabase
  let db: Kysely<never>
  beforeAll(async () => {
    created = await createDatabase(dialect)
    db = openDatabase(created.url)
    await migrate(db, sets)
  })
  afterAll(async () => {
    await db.destroy()
    await created.drop()
  })

  const setRelease = (release: number) =>
    sql`update schema_release set release = ${release}`.execute(db)
  const signal = new AbortController().signal
  const wait = () => waitForMigrations(db, sets, { signal, onWait: () => undefined })

  it('is recorded by the migrations', async () => {
    const { rows } = await sql`select release from schema_release`.execute(db)

    expect(rows).toEqual([{ release: SCHEMA_RELEASE }])
  })

  it('may be the next one, so that servers are replaced one after the other', async () => {
    await setRelease(SCHEMA_RELEASE + 1)

    expect(await migrate(db, sets)).toEqual([])
    await wait()
  })

  it('is refused when it is newer, whether the start migrates or waits', async () => {
    await setRelease(SCHEMA_RELEASE + 2)

    await expect(migrate(db, sets)).rejects.toThrow(
      `The tables belong to release ${SCHEMA_RELEASE + 2}, but this server supports`,
    )
    await expect(wait()).rejects.toThrow('start a newer server')
  })
})

it('is one more with each minor release in the changelog', () => {
  const changelog = readFileSync(resolve(import.meta.dirname, '../../../../CHANGELOG.md'), 'utf8')

  expect(SCHEMA_RELEASE).toBe(changelog.match(/^## \d+\.\d+\.0$/gm)?.length)
})

describe('waiting for migrations', () => {
  it('tells the reason, changes nothing, and ends with them', async () => {
    const created = await createDatabase('postgres')
    const db = openDatabase<never>(created.url)
    const reasons: string[] = []

    await waitForMigrations(db, sets, {
      signal: new AbortController().signal,
      everyMs: 1,
      onWait: async (reason) => {
        reasons.push(reason)
        expect(await pendingMigrations(db, sets)).toHaveLength(Object.keys(coreMigrations).length)
        await migrate(db, sets)
      },
    })

    expect(reasons).toEqual([expect.stringMatching(/^pending migrations: core\/0001_foundation, /)])
    await db.destroy()
    await created.drop()
  })

  it('waits for a database that is unavailable until it is told to stop', async () => {
    const db = openDatabase<never>('postgres://nobody@127.0.0.1:1/none')
    const stop = new AbortController()
    const reasons: string[] = []
    const waiting = waitForMigrations(db, sets, {
      signal: stop.signal,
      onWait: (reason) => {
        reasons.push(reason)
        stop.abort(new Error('stopped'))
      },
    })

    await expect(waiting).rejects.toThrow('stopped')
    expect(reasons).toEqual(['the database is unavailable'])
    await db.destroy()
  })
})
