import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cli } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request, RunningProcess } from './support/process.ts'

const isRun = inFullRun('the log of a server')

const password = `pw${randomBytes(12).toString('hex')}`
const role = `role_${randomBytes(6).toString('hex')}`
// Not a license, and so refused; what was given must not show in the refusal.
const license = `license.${randomBytes(24).toString('hex')}.${randomBytes(24).toString('hex')}`

let installation: Installation
let env: Record<string, string>

beforeAll(async () => {
  installation = await createInstallation('postgres', { hasTables: false })
  const url = new URL(installation.env['REMIT_DATABASE_URL']!)
  await installation.database(async (db) => {
    await sql.raw(`create role ${role} login password '${password}'`).execute(db)
    await sql.raw(`alter database ${url.pathname.slice(1)} owner to ${role}`).execute(db)
    await sql.raw(`grant all on schema public to ${role}`).execute(db)
    await sql.raw(`grant pg_signal_backend to ${role}`).execute(db)
  })
  url.username = role
  url.password = password
  env = {
    ...installation.env,
    REMIT_DATABASE_URL: url.toString(),
    REMIT_LICENSE_KEY: license,
    REMIT_LOG_LEVEL: 'trace',
    REMIT_BOOTSTRAP_ORG: 'acme',
  }
})
afterAll(async () => {
  await installation.database(async (db) => {
    await sql.raw(`reassign owned by ${role} to current_user`).execute(db)
    await sql.raw(`drop owned by ${role}`).execute(db)
    await sql.raw(`drop role ${role}`).execute(db)
  })
  await installation.remove()
})

const endIdleConnections = () =>
  installation.database((db) =>
    sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role} and state = 'idle'`.execute(
      db,
    ),
  )

test.skipIf(!isRun)('nothing secret is in the log, whatever happens', async () => {
  const server = new RunningProcess('main', [], env)
  const [, url = ''] = await server.says(/Remit listens on (\S+)\n[^]*\n\n$/)
  const [key = ''] = /rmk_[0-9A-Za-z]{65}/.exec(server.stdout) ?? []
  const ask = (path: string, used = key, body?: unknown) =>
    request(url + path, used, body === undefined ? 'GET' : 'POST', body)
  const almost = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`
  await ask('/v1/guard', key, { content: 'hello' })
  await ask('/v1/authorize', key, { agent_id: 'payer', action: 'pay', context: { note: key } })
  await ask('/v1/authorize', key, { agent_id: 'payer', unknown: key })
  await ask('/v1/scorers', almost)
  await ask(`/v1/ledger?${key}=1`)
  await endIdleConnections()
  await server.logs(/idle database connection failed/)
  await ask('/v1/scorers')
  const { code, stderr } = await server.stop()

  expect(code).toBe(0)
  expect(stderr.split('\n').length).toBeGreaterThan(5)
  for (const secret of [key, almost, key.slice(20, 60), password, license, license.split('.')[2]]) {
    expect(stderr).not.toContain(secret)
  }
  // All properties that a driver adds to its errors.
  expect(stderr).not.toContain(role)
})

test.skipIf(!isRun)('nothing secret is in what a command says about its failure', async () => {
  const { stdout: key } = await cli(['key', 'generate'], {})
  const wrong = { ...env, REMIT_DATABASE_URL: env['REMIT_DATABASE_URL']!.replace(role, 'nobody') }
  const runs = await Promise.all([
    cli(['org', 'list'], wrong),
    cli(['migrate'], wrong),
    cli(['org', 'list'], {
      ...wrong,
      REMIT_DATABASE_URL: `postgres://me:${password}@nowhere.invalid/x`,
    }),
    cli(['org', 'list'], { ...wrong, REMIT_BOOTSTRAP_KEY: `${key.trim()}x` }),
    cli(['license', 'show'], env),
  ])

  for (const { code, stdout, stderr } of runs) {
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^remit: /)
    for (const secret of [password, key.trim(), license]) expect(stderr).not.toContain(secret)
  }
})
