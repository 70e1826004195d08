import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKey } from '@remit/core/keys'
import { inFullRun, PostgresNode } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { cli, cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { startLoad } from './support/load.ts'
import { request } from './support/process.ts'

const isRun = inFullRun('restoring PostgreSQL') && hasModules()

const LONG = { timeout: 60_000, interval: 100 }
const log = pino({ level: 'silent' })

interface Checkpoint {
  readonly size: number
  readonly note: string
}

/** As an operator does it: a base backup, the archived log, and a point in time. */
describe.skipIf(!isRun)('PostgreSQL restored to a point in time', () => {
  const key = generateKey().secret
  let primary: PostgresNode
  let restored: PostgresNode
  let installation: Installation
  let env: Record<string, string>
  let orgId: string
  let kept: Checkpoint
  let newest: Checkpoint
  const file = (name: string) => join(installation.folder, name)
  const serve = () => createServer(readConfig(env), { log })
  const checkpoint = () => cliJson<Checkpoint>(['ledger', 'checkpoint'], env)
  beforeAll(async () => {
    primary = await PostgresNode.create()
    const archive = primary.folderBeside('archive')
    await primary.archiveTo(archive)
    installation = await createInstallation()
    env = {
      ...installation.env,
      REMIT_DATABASE_URL: primary.url,
      REMIT_BOOTSTRAP_KEY: key,
      REMIT_RATE_LIMIT: '0',
      REMIT_CHECKPOINT_DIR: file('outside'),
    }
    const server = await serve()
    await request(`${server.url}/v1/spend-limits/payer`, key, 'POST', { daily_usd: 1000 })
    const load = startLoad(server.url, key)
    await load.more(60)
    restored = await primary.backup()
    await load.more(60)
    const point = await primary.ask('select clock_timestamp()::text')
    kept = await checkpoint()
    await load.more(60)
    await load.stop()
    await server.stop()
    newest = await checkpoint()
    orgId = /org_\w+/.exec(newest.note)?.[0] ?? ''
    // As a server does once an hour.
    mkdirSync(file('outside'), { recursive: true })
    writeFileSync(file(`outside/${orgId}.txt`), `${kept.note}\n${newest.note}\n`)
    await primary.run('select pg_switch_wal()')
    await vi.waitUntil(
      async () =>
        (await primary.ask(
          'select last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) from pg_stat_archiver',
        )) === true,
      LONG,
    )
    await primary.kill()
    await restored.restoreFrom(archive, String(point))
    env['REMIT_DATABASE_URL'] = restored.url
  })
  afterAll(async () => {
    await restored.remove()
    await primary.remove()
    await installation.remove()
  })

  test('is a moment between the base backup and the loss, with a valid ledger', async () => {
    const { size } = await checkpoint()

    expect(size).toBeGreaterThan(120)
    expect(size).toBeLessThanOrEqual(kept.size)
    expect((await cli(['ledger', 'verify'], { ...env, REMIT_CHECKPOINT_DIR: '' })).code).toBe(0)
  })

  test('does not serve before the loss is recorded', async () => {
    const { size } = await checkpoint()

    await expect(serve()).rejects.toThrow(
      `REMIT_CHECKPOINT_DIR is ahead of the database: ${orgId} has ${size} entries, a checkpoint has ${newest.size}.`,
    )
  })

  test('serves again after that, names what is lost, and its spend is that of its entries', async () => {
    const { size } = await checkpoint()
    const notes = readFileSync(file(`outside/${orgId}.txt`), 'utf8').split('\n')
    writeFileSync(file('last.note'), notes.slice(-7, -1).join('\n'))
    const { lost } = await cliJson<{ lost: object }>(
      ['ledger', 'recover', '--checkpoint', file('last.note'), '--reason', 'the disk failed'],
      env,
    )
    const server = await serve()
    const answered = await request(`${server.url}/v1/authorize`, key, 'POST', {
      agent_id: 'payer',
      action: 'payments.transfer',
      context: { amount_usd: 0.01 },
    })
    await server.stop()
    const spend = await cliJson<{ entries: number }>(['spend', 'rebuild'], env)

    expect(lost).toEqual({ from_seq: size, to_seq: newest.size - 1 })
    expect(answered.status).toBe(200)
    expect(await cli(['ledger', 'verify'], env)).toMatchObject({ code: 0 })
    expect(spend).toMatchObject({ complete: true, differences: [] })
    expect(spend.entries).toBeGreaterThan(100)
  })
})
