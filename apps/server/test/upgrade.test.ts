import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { generateKey } from '@remit/core/keys'
import { inFullRun, runs } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { cli, cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { startLoad } from './support/load.ts'
import { checkOut, previousCommit } from './support/previous-build.ts'
import { startServer } from './support/process.ts'

const commit = hasModules() ? previousCommit() : null
const ANSWERS = runs(500, 200)

const isRun = inFullRun('the upgrade from the release before') && commit !== null

describe.skipIf(!isRun)('the release before and this one on one database', () => {
  let installation: Installation
  let program: string
  const key = generateKey().secret
  beforeAll(async () => {
    installation = await createInstallation('postgres', { hasTables: false })
    const folder = join(installation.folder, 'before')
    mkdirSync(folder)
    program = await checkOut(commit ?? '', folder)
  })
  afterAll(() => installation.remove())

  it('serve without an error while the tables change, and both can start again', async () => {
    const env = {
      ...installation.env,
      REMIT_BOOTSTRAP_KEY: key,
      REMIT_RATE_LIMIT: '0',
      REMIT_LOG_LEVEL: 'silent',
    }
    const before = () => startServer(env, program)
    const after = () => startServer({ ...env, REMIT_MIGRATE: 'check' })

    const old = await before()
    const oldLoad = startLoad(old.url, key)
    await oldLoad.more(ANSWERS)
    const { migrated } = await cliJson<{ migrated: string[] }>(['migrate'], env)
    const renewed = await after()
    const newLoad = startLoad(renewed.url, key)
    await Promise.all([oldLoad.more(ANSWERS), newLoad.more(ANSWERS)])
    // A rollback starts the release before on the tables of this one.
    const rolledBack = await before()
    const rolledLoad = startLoad(rolledBack.url, key)
    await Promise.all([rolledLoad.more(ANSWERS), newLoad.more(ANSWERS)])
    const loads = [oldLoad, newLoad, rolledLoad]
    await Promise.all(loads.map((load) => load.stop()))

    expect(migrated.length).toBeGreaterThan(0)
    expect(loads.flatMap(({ refusals }) => refusals.map(({ status }) => status))).toEqual([])
    const ends = await Promise.all([old, renewed, rolledBack].map(({ server }) => server.stop()))
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual(ends.map(() => [0, '']))
    expect(await cli(['ledger', 'verify'], env)).toMatchObject({ code: 0 })
    await installation.database(async (db) => {
      const rows = await db.selectFrom('ledger_entry').select(['seq', 'hash']).execute()
      const stored = new Map(rows.map(({ seq, hash }) => [seq, hash]))
      for (const { seq, hash } of loads.flatMap(({ answered }) => answered))
        expect(stored.get(seq)).toBe(hash)
    })
  })
})
