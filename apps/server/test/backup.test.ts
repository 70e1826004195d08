import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { generateKey } from '@remit/core'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { startLoad } from './support/load.ts'
import { request } from './support/process.ts'

const log = pino({ level: 'silent' })

interface Backup {
  readonly database: string | null
  readonly ledgers: readonly {
    readonly org_id: string
    readonly size: number
    readonly note: string
  }[]
}

describe.skipIf(!hasModules())('a backup of SQLite that is restored', () => {
  const key = generateKey().secret
  let installation: Installation
  let env: Record<string, string>
  let orgId: string
  let backup: Backup
  let newest: { readonly size: number; readonly note: string }
  const file = (name: string) => join(installation.folder, name)
  const database = () => (env['REMIT_DATABASE_URL'] ?? '').slice('sqlite:'.length)
  const serve = () => createServer(readConfig(env), { log })
  beforeAll(async () => {
    installation = await createInstallation()
    const settings = { REMIT_BOOTSTRAP_KEY: key, REMIT_RATE_LIMIT: '0', REMIT_EVALUATION: '1' }
    env = { ...installation.env, ...settings, REMIT_CHECKPOINT_DIR: file('outside') }
    const server = await serve()
    await request(`${server.url}/v1/spend-limits/payer`, key, 'POST', { daily_usd: 1000 })
    const load = startLoad(server.url, key)
    await load.more(100)
    backup = await cliJson<Backup>(['backup', file('backup')], env)
    await load.more(50)
    await load.stop()
    await server.stop()
    orgId = backup.ledgers[0]?.org_id ?? ''
    newest = await cliJson<typeof newest>(['ledger', 'checkpoint'], env)
    // As a server does once an hour.
    mkdirSync(file('outside'))
    writeFileSync(file(`outside/${orgId}.txt`), `${backup.ledgers[0]?.note}\n${newest.note}\n`)
    for (const suffix of ['', '-wal', '-shm']) rmSync(database() + suffix, { force: true })
    copyFileSync(file('backup/remit.db'), database())
  })
  afterAll(() => installation.remove())

  test('was made under load, is complete, and only its owner reads it', async () => {
    expect(backup.database).toBe('remit.db')
    expect(backup.ledgers[0]?.size).toBeGreaterThan(90)
    expect(newest.size).toBeGreaterThanOrEqual((backup.ledgers[0]?.size ?? 0) + 50)
    for (const name of ['remit.db', 'manifest.json'])
      expect(statSync(file(`backup/${name}`)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file('backup/manifest.json'), 'utf8'))).toMatchObject({
      ledgers: backup.ledgers,
    })
    expect((await cli(['ledger', 'verify'], { ...env, REMIT_CHECKPOINT_DIR: '' })).code).toBe(0)
  })

  test('is not replaced by the next one', async () => {
    const again = await cli(['backup', file('backup')], env)

    expect(again.code).toBe(2)
    expect(again.stderr).toMatch(/remit\.db already exists and is not replaced/)
  })

  test('leaves nothing beside a manifest of another backup', async () => {
    mkdirSync(file('other'))
    writeFileSync(file('other/manifest.json'), 'kept')
    const refused = await cli(['backup', file('other')], env)

    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: `remit: ${file('other/manifest.json')} already exists and is not replaced\n`,
    })
    expect(readdirSync(file('other'))).toEqual(['manifest.json'])
    expect(readFileSync(file('other/manifest.json'), 'utf8')).toBe('kept')
  })

  test('keeps a server from starting while a checkpoint outside is ahead of it', async () => {
    await expect(serve()).rejects.toThrow(
      `REMIT_CHECKPOINT_DIR is ahead of the database: ${orgId} has ${backup.ledgers[0]?.size} entries, a checkpoint has ${newest.size}.`,
    )
  })

  test('serves again when the loss is recorded, with the spend that its entries add up to', async () => {
    // The last checkpoint of the file: five lines and an empty one.
    const lines = readFileSync(file(`outside/${orgId}.txt`), 'utf8').split('\n')
    writeFileSync(file('last.note'), lines.slice(-7, -1).join('\n'))
    const recovered = await cliJson<{ lost: object }>(
      ['ledger', 'recover', '--checkpoint', file('last.note'), '--reason', 'the disk failed'],
      env,
    )
    const server = await serve()
    const answered = await request(`${server.url}/v1/authorize`, key, 'POST', {
      agent_id: 'payer',
      action: 'payments.transfer',
      context: { amount_usd: 0.01 },
    })
    const limit = await request(`${server.url}/v1/spend-limits/payer`, key)
    const { spent } = (await limit.json()) as { spent: { day: { usd: number; held_usd: number } } }
    await server.stop()
    const [decided = 0, settled = 0] = await installation.database((db) =>
      Promise.all(
        ['payments.transfer', 'payments.settled'].map(async (action) => {
          const rows = db.selectFrom('ledger_entry').select('seq').where('action', '=', action)
          return (await rows.execute()).length
        }),
      ),
    )

    expect(recovered.lost).toEqual({ from_seq: backup.ledgers[0]?.size, to_seq: newest.size - 1 })
    expect(answered.status).toBe(200)
    expect(await cli(['ledger', 'verify'], env)).toMatchObject({ code: 0 })
    // Each decision holds a cent until its cost of two is reported.
    expect(settled).toBeGreaterThan(10)
    expect(spent.day.usd).toBeCloseTo(0.02 * settled, 6)
    expect(spent.day.held_usd).toBeCloseTo(0.01 * (decided - settled), 6)
  })
})

test('a backup of PostgreSQL has the checkpoints, and says what is missing', async () => {
  const installation = await createInstallation('postgres')
  const { organization } = await createOrg(installation.env)
  const folder = join(installation.folder, 'backup')
  const made = await cli(['backup', folder], installation.env)

  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toMatch(/PostgreSQL is not copied: .*\nNot included: the ledger key/)
  expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({
    database: null,
    ledgers: [{ org_id: organization.id, note: expect.stringContaining('\n\n— ') }],
  })
  await installation.remove()
})
