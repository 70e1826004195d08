import { join } from 'node:path'
import { generateKey } from '@remit/core/keys'
import { freePort, inFullRun, runStatement } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { cli, cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { oldLedger } from './support/old-ledger.ts'
import { request } from './support/process.ts'
import { createTwoRoles } from './support/two-roles.ts'
import type { TwoRoles } from './support/two-roles.ts'

const isRun = inFullRun('modes of migrations')

const log = pino({ level: 'silent' })
const ORIGIN = 'https://app.example.org'

describe.skipIf(!isRun)('with REMIT_MIGRATE=check and pending migrations', () => {
  let installation: Installation
  let env: Record<string, string>
  let url: string
  beforeAll(async () => {
    installation = await createInstallation('postgres', { hasTables: false })
    const port = await freePort()
    url = `http://localhost:${port}`
    env = {
      ...installation.env,
      REMIT_MIGRATE: 'check',
      REMIT_PORT: String(port),
      REMIT_CORS_ORIGINS: ORIGIN,
    }
  })
  afterAll(() => installation.remove())

  const tables = () =>
    runStatement(
      env['REMIT_DATABASE_URL'] ?? '',
      `select tablename from pg_tables where schemaname = 'public'`,
    )

  /** The origin whose pages may read the answer. */
  const readableBy = async () => {
    const { headers } = await fetch(`${url}/v1/scorers`, { headers: { origin: ORIGIN } })
    return headers.get('access-control-allow-origin')
  }

  test('a command refuses, and names them', async () => {
    const { code, stderr } = await cli(['org', 'create', 'acme'], env)

    expect(code).toBe(2)
    expect(stderr).toMatch(/Migrations are pending: core\/0001_foundation, .*`remit migrate`/)
    expect(await tables()).toEqual([])
  })

  test('a server that is told to stop stops', async () => {
    const stop = new AbortController()
    const starting = createServer(readConfig(env), { log, signal: stop.signal })
    await vi.waitFor(() => fetch(`${url}/health`), { timeout: 60_000 })
    stop.abort(new Error('stopped'))

    await expect(starting).rejects.toThrow('stopped')
    await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed')
  })

  test('a server is alive but not ready until `remit migrate` has run, and changes nothing', async () => {
    const starting = createServer(readConfig(env), { log })
    await vi.waitFor(() => fetch(`${url}/health`), { timeout: 60_000 })
    const health = await fetch(`${url}/health`)
    const ready = await fetch(`${url}/ready`)
    const asked = await request(`${url}/v1/scorers`, generateKey().secret)
    const waited = cli(['migrate', '--wait', '--json'], env)

    expect(health.status).toBe(200)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({
      status: 'unavailable',
      checks: { database: 'ok', migrations: 'pending_migrations' },
      pending_migrations: expect.arrayContaining(['core/0001_foundation']),
    })
    expect(asked.status).toBe(503)
    expect(await readableBy()).toBe(ORIGIN)
    expect(await asked.json()).toMatchObject({ code: 'database_unavailable' })
    expect(await tables()).toEqual([])

    expect(await cli(['migrate'], env)).toMatchObject({ code: 0 })
    const server = await starting

    expect(server.url).toBe(url)
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    expect((await request(`${url}/v1/scorers`, generateKey().secret)).status).toBe(401)
    expect(await readableBy()).toBe(ORIGIN)
    expect(await waited).toMatchObject({ code: 0, stdout: '{"pending":[]}\n' })
    await server.stop()
  })
})

test.skipIf(!isRun)(
  '`remit migrate --wait` says what it waits for, and ends with 2 when it is told to stop',
  async () => {
    const installation = await createInstallation('postgres', { hasTables: false })
    const stop = new AbortController()
    const ended = await cli(['migrate', '--wait'], installation.env, {
      signal: stop.signal,
      onText: () => stop.abort(),
    })

    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(/^remit: waiting: pending migrations: core\/0001_foundation/)
    await installation.remove()
  },
)

test.skipIf(!isRun)('with REMIT_MIGRATE=off a start looks at no migration', async () => {
  const installation = await createInstallation('postgres')
  const { env } = installation
  const database = env['REMIT_DATABASE_URL'] ?? ''
  await runStatement(database, `delete from migration_core where name = '0005_schema_release'`)
  const server = await createServer(readConfig({ ...env, REMIT_MIGRATE: 'off' }), { log })

  expect(await (await fetch(`${server.url}/ready`)).json()).toMatchObject({
    pending_migrations: ['core/0005_schema_release'],
  })
  await server.stop()
  await installation.remove()
})

test.skipIf(!isRun)('tables of the release after the next one refuse a start', async () => {
  const installation = await createInstallation('postgres')
  await runStatement(
    installation.env['REMIT_DATABASE_URL'] ?? '',
    'update schema_release set release = release + 2',
  )
  const refused = await cli(['org', 'create', 'acme'], installation.env)

  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(
    /^remit: The tables belong to release \d+, .* start a newer server\n$/,
  )
  await installation.remove()
})

describe.skipIf(!isRun)('a role that may not change tables', () => {
  let roles: TwoRoles
  let installation: Installation
  let env: Record<string, string>
  beforeAll(async () => {
    roles = await createTwoRoles()
    installation = await createInstallation('sqlite')
    env = { ...installation.env, REMIT_DATABASE_URL: roles.appUrl, REMIT_MIGRATE: 'check' }
  })
  afterAll(async () => {
    await installation.remove()
    await roles.drop()
  })

  test('is named when it is told to migrate', async () => {
    const refused = await cli(['migrate'], env)

    expect(refused.code).toBe(78)
    expect(refused.stderr).toMatch(/the database role must not change tables: run `remit migrate`/)
  })

  describe.skipIf(!hasModules())('after the owner has migrated', () => {
    const key = generateKey().secret
    let server: RunningServer
    let oldOrgId: string
    beforeAll(async () => {
      await cliJson(['migrate'], { ...env, REMIT_DATABASE_URL: roles.ownerUrl })
      // The server writes heartbeats between the entries of a ledger that it can see.
      oldOrgId = await oldLedger({ ...installation, env })
      const settings = { ...env, REMIT_BOOTSTRAP_KEY: key }
      server = await createServer(readConfig(settings), { log, watchEveryMs: 50 })
    })
    afterAll(() => server.stop())

    const ask = async (path: string, body: unknown) => {
      const method = body === undefined ? 'GET' : 'POST'
      const response = await request(server.url + path, key, method, body)
      return [response.status, await response.text()] as const
    }

    test('cannot change a table or a recorded entry', async () => {
      for (const statement of [
        'create table other (id integer)',
        'alter table ledger_entry disable trigger all',
        'drop table ledger_entry',
        'truncate ledger_entry',
      ])
        await expect(runStatement(roles.appUrl, statement)).rejects.toMatchObject({ code: '42501' })
    })

    test.each<[number, string, unknown]>([
      [201, '/v1/policies', { effect: 'deny', actions: ['db.*'] }],
      [201, '/v1/identity/agents', { agent_id: 'payer', owners: [{ type: 'user', id: 'kim' }] }],
      [201, '/v1/identity/agents/payer/credentials', { scopes: ['authorize'] }],
      [201, '/v1/approval-rules/db', {}],
      [200, '/v1/authorize', { agent_id: 'payer', action: 'payments.transfer' }],
      [201, '/v1/ledger', { action: 'payments.settled' }],
      [200, '/v1/compliance/verify-ledger', {}],
      [200, '/v1/guard', { content: 'hello' }],
      [200, '/v1/stats?by=decision', undefined],
    ])('is served %i by %s', async (status, path, body) => {
      const [answered, text] = await ask(path, body)

      expect(`${answered} ${text}`).toMatch(new RegExp(`^${status} `))
    })

    test('prunes and erases', async () => {
      const org = ['--org', oldOrgId]
      const file = join(installation.folder, 'pruned.ndjson')
      const reason = ['--reason', 'asked for']
      const erased = await cli(['ledger', 'erase', ...org, '--seq', '5', ...reason], env)
      const prune = ['ledger', 'prune', ...org, '--keep-days', '400', '--export', file, '--yes']
      const pruned = await cli([...prune, ...reason], env)

      expect([erased.code, erased.stderr]).toEqual([0, ''])
      expect([pruned.code, pruned.stderr]).toEqual([0, ''])
    })
  })
})
