import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { generateKey } from '@remit/core/keys'
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
      stderr: `remit: ${file('other/manifest.json')} already exists and is not replaced; --replace replaces it\n`,
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

describe.skipIf(!hasModules())('remit restore', () => {
  const key = generateKey().secret
  let installation: Installation
  let env: Record<string, string>
  let folder: string
  let database: string
  /** The three files of the database at a kill, with entries after the backup in the log. */
  let killed: string
  const file = (name: string) => join(installation.folder, name)
  const ENDS = ['', '-wal', '-shm']
  const serve = () => createServer(readConfig(env), { log })
  const decide = async (url: string, times: number) => {
    for (let i = 0; i < times; i++) {
      const body = { agent_id: 'payer', action: 'a.b', context: { text: 'x'.repeat(4000) } }
      expect((await request(`${url}/v1/authorize`, key, 'POST', body)).status).toBe(200)
    }
  }
  const put = (from: string, ends = ENDS) => {
    for (const end of ENDS) rmSync(database + end, { force: true })
    for (const end of ends) if (existsSync(from + end)) copyFileSync(from + end, database + end)
  }
  const size = async () => (await cliJson<{ size: number }>(['ledger', 'checkpoint'], env)).size
  beforeAll(async () => {
    installation = await createInstallation()
    env = { ...installation.env, REMIT_BOOTSTRAP_KEY: key, REMIT_EVALUATION: '1' }
    database = (env['REMIT_DATABASE_URL'] ?? '').slice('sqlite:'.length)
    folder = file('backup')
    killed = file('killed.db')
    const server = await serve()
    await decide(server.url, 5)
    await cliJson(['backup', folder], env)
    await decide(server.url, 60)
    for (const end of ENDS) copyFileSync(database + end, killed + end)
    await server.stop()
  })
  afterAll(() => installation.remove())

  test('puts the backup in the place of a database and its log, and keeps these', async () => {
    put(killed)
    const { ledgers, replaced, ...rest } = await cliJson<{
      database: string
      replaced: string
      ledgers: readonly { size: number }[]
    }>(['restore', folder], env)

    expect(rest).toMatchObject({ database, created_at: expect.any(String) })
    expect(await size()).toBe(ledgers[0]?.size)
    expect(statSync(database).mode & 0o777).toBe(0o600)
    expect(await cli(['ledger', 'verify'], env)).toMatchObject({ code: 0 })
    const server = await serve()
    await decide(server.url, 1)
    await server.stop()
    const old = { ...env, REMIT_DATABASE_URL: `sqlite:${replaced}` }
    const kept = await cliJson<{ size: number }>(['ledger', 'checkpoint'], old)
    expect(kept.size).toBeGreaterThanOrEqual((ledgers[0]?.size ?? 0) + 60)
  })

  test('restores where there is no database, and where the old one is damaged', async () => {
    put(killed, [])
    expect(await cliJson(['restore', folder], env)).toMatchObject({ replaced: null })
    for (const damage of ['no database at all', 'SQLite format 3\0 and nothing else']) {
      writeFileSync(database, damage)
      expect(await cliJson(['restore', folder], env)).toMatchObject({
        replaced: expect.any(String),
      })
      expect(await cli(['ledger', 'verify'], env)).toMatchObject({ code: 0 })
    }
    // A copy that was put over the old file, with the log of the old one.
    put(killed)
    copyFileSync(join(folder, 'remit.db'), database)
    await cliJson(['restore', folder], env)
    expect(await cli(['ledger', 'verify'], env)).toMatchObject({ code: 0 })
  })

  test('refuses while a server runs, and changes nothing', async () => {
    const server = await serve()
    await decide(server.url, 1)
    const before = [readdirSync(installation.folder).toSorted(), await size()]

    const refused = await cli(['restore', folder], env)

    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/remit\.db is in use: stop all servers/),
    })
    expect([readdirSync(installation.folder).toSorted(), await size()]).toEqual(before)
    await decide(server.url, 1)
    await server.stop()
  })

  test.each([
    [
      'no manifest',
      (bad: string) => rmSync(join(bad, 'manifest.json')),
      /manifest\.json cannot be read/,
    ],
    ['no copy', (bad: string) => rmSync(join(bad, 'remit.db')), /remit\.db cannot be copied/],
    [
      'a manifest of PostgreSQL',
      (bad: string) => edit(join(bad, 'manifest.json'), { database: null }),
      /is not the manifest\.json of a backup of SQLite/,
    ],
    [
      'a manifest of another backup',
      (bad: string) => edit(join(bad, 'manifest.json'), { ledgers: [] }),
      /has other ledgers than manifest\.json/,
    ],
    [
      'a copy that is cut',
      (bad: string) => truncateSync(join(bad, 'remit.db'), 40_960),
      /remit\.db cannot be copied|damaged/,
    ],
    [
      'a copy that is no database',
      (bad: string) => writeFileSync(join(bad, 'remit.db'), 'x'.repeat(9000)),
      /remit\.db cannot be copied/,
    ],
  ])('refuses a folder with %s, and changes nothing', async (_name, spoil, message) => {
    const bad = file('bad')
    rmSync(bad, { recursive: true, force: true })
    cpSync(folder, bad, { recursive: true })
    spoil(bad)
    const before = [readdirSync(installation.folder).toSorted(), readFileSync(database)]

    const { code, stderr } = await cli(['restore', bad], env)

    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect([readdirSync(installation.folder).toSorted(), readFileSync(database)]).toEqual(before)
  })

  test('is named by the start on a copy beside the log of the old database', async () => {
    put(killed)
    copyFileSync(join(folder, 'remit.db'), database)

    const { code, stderr } = await cli(['ledger', 'checkpoint'], env)

    expect(code).toBe(2)
    expect(stderr).toMatch(/database is damaged: .* end in -wal and -shm .*remit restore/)
  })

  test('is not for PostgreSQL', async () => {
    const other = { ...env, REMIT_DATABASE_URL: 'postgres://localhost/remit' }

    expect(await cli(['restore', folder], other)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('use the tools of PostgreSQL'),
    })
  })
})

const edit = (path: string, change: object) =>
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }))

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
