import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { once } from 'node:events'
import { generateKeyPairSync } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { openDatabase } from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { migrationsOf } from '../src/boot/tables.ts'
import type { CheckFacts } from '../src/check/checks.ts'
import { CHECKS, exitOf, runChecks } from '../src/cli/check.ts'
import { readConfig } from '../src/settings/config.ts'
import { issueLicense } from '../src/settings/license.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

const DAY_MS = 86_400_000
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const EXPIRES = Date.parse('2030-01-01T00:00:00.000Z')

describe.skipIf(!hasModules())('remit check', () => {
  let installation: Installation
  let db: Database<CoreTables>
  let token: string
  let org: string
  const file = (name: string) => join(installation.folder, name)
  beforeAll(async () => {
    installation = await createInstallation()
    org = (await createOrg(installation.env)).organization.id
    db = openDatabase<CoreTables>(installation.env['REMIT_DATABASE_URL'] ?? '', { readonly: true })
    const terms = { customer: 'Acme', plan: 'enterprise', hosted: false } as const
    token = await issueLicense(privateKey, { ...terms, expiresAt: new Date(EXPIRES).toISOString() })
  })
  afterAll(async () => {
    await db.destroy()
    await installation.remove()
  })

  /** The result of a check for a licensed installation with other settings, time or backups. */
  const check = async (
    name: string,
    env: Record<string, string> = {},
    more: Partial<CheckFacts> = {},
  ): Promise<string> => {
    const own = { ...installation.env, REMIT_EVALUATION: '', REMIT_LICENSE_KEY: token, ...env }
    const facts: CheckFacts = {
      config: readConfig(own),
      db,
      migrations: migrationsOf(await loadModules()),
      now: Date.now,
      licenseKey: publicKey,
      backup: undefined,
      ...more,
    }
    const { status, message, todo } = (await runChecks(facts, [name]))[0] ?? {}
    expect(todo === null).toBe(status === 'ok')
    return `${status}: ${message}`
  }
  const at = (time: number): Partial<CheckFacts> => ({ now: () => time })

  it('license: tells a missing, refused, expired and ending one', async () => {
    expect(await check('license')).toMatch(/^ok: licensed to Acme until 2030-01-01/)
    expect(await check('license', { REMIT_LICENSE_KEY: '' })).toMatch(/^problem: REMIT_LICENSE_KEY/)
    expect(await check('license', { REMIT_LICENSE_KEY: 'a.b.c' })).toMatch(/^problem: the license/)
    expect(await check('license', {}, at(EXPIRES - 10 * DAY_MS))).toMatch(
      /^warning: The license expires at/,
    )
    expect(await check('license', {}, at(EXPIRES + DAY_MS))).toMatch(
      /^problem: The license expired at .* does not load/,
    )
  })

  it('evaluation: tells settings for development', async () => {
    expect(await check('evaluation')).toMatch(/^ok/)
    expect(await check('evaluation', { REMIT_EVALUATION: '1' })).toMatch(/^problem: REMIT_EVALUA/)
    expect(await check('evaluation', { REMIT_ALLOW_LOOPBACK_TARGETS: '1' })).toMatch(/^problem/)
  })

  it.each([
    ['default_effect', 'every action that no rule denies is allowed'],
    ['unknown_agents', 'agents that are not registered may act'],
  ])('%s: names the organizations that allow', async (name, effect) => {
    expect(await check(name)).toBe(`warning: allow in acme: ${effect}`)
    await cliJson(['org', 'set', 'acme', `${name}=deny`], installation.env)
    expect(await check(name)).toBe('ok: deny in 1 organizations')
    await cliJson(['org', 'set', 'acme', `${name}=`], installation.env)
  })

  it('agent_credentials: names the organizations in which a key may act for any agent', async () => {
    expect(await check('agent_credentials')).toBe(
      'warning: not required in acme: a key may act for any agent',
    )
    await cliJson(['org', 'set', 'acme', 'require_agent_credentials=true'], installation.env)
    expect(await check('agent_credentials')).toBe('ok: required in 1 organizations')
    await cliJson(['org', 'set', 'acme', 'require_agent_credentials='], installation.env)
  })

  it('retention: names the organizations that keep too little', async () => {
    const set = ['org', 'set', 'acme', '--acknowledge-short-retention']
    expect(await check('retention')).toMatch(/^ok/)
    await cliJson([...set, 'retention_days=30'], installation.env)
    expect(await check('retention')).toBe('warning: less than 183 days in acme')
    await cliJson([...set, 'retention_days='], installation.env)
  })

  describe.each([
    ['ledger_key', 'REMIT_LEDGER_KEY_FILE', 'ledger-key.pem'],
    ['secrets_key', 'REMIT_SECRETS_KEY_FILE', 'secrets-key.txt'],
    ['pepper', 'REMIT_CREDENTIAL_PEPPER_FILE', 'secrets-key.txt'],
  ])('%s', (name, setting, key) => {
    it('tells a file that is missing, unusable, open to others, or copied with the data', async () => {
      const [own, broken] = [file(key), file('broken')]
      writeFileSync(broken, 'no key', { mode: 0o600 })
      expect(await check(name, { [setting]: own })).toBe(`ok: ${own}`)
      expect(await check(name, { [setting]: file('none') })).toMatch(/^problem: .*none/)
      expect(await check(name, { [setting]: broken })).toMatch(/^problem: .*broken/)
      for (const mode of [0o604, 0o620]) {
        chmodSync(own, mode)
        expect(await check(name, { [setting]: own })).toMatch(/^problem: .* can be read by others/)
      }
      chmodSync(own, 0o600)

      const data = installation.env['REMIT_DATABASE_URL']?.slice('sqlite:'.length) ?? ''
      const beside = join(data, '..', `beside-${key}`)
      copyFileSync(own, beside)
      expect(await check(name, { [setting]: beside })).toMatch(/^warning: .*folder of the database/)
      const backup = { backup: installation.folder }
      expect(await check(name, { [setting]: own }, backup)).toMatch(/^warning: .*of the backups/)
    })
  })

  it('pepper: is optional', async () => {
    expect(await check('pepper')).toBe('ok: not used')
  })

  it('ledger_key: tells a key that is not the one of the ledgers', async () => {
    await cliJson(['ledger', 'keygen', file('other.pem')], installation.env)
    expect(await check('ledger_key', { REMIT_LEDGER_KEY_FILE: file('other.pem') })).toBe(
      `problem: ${file('other.pem')} is not the key of the ledgers of ${org}, whose requests fail`,
    )
  })

  it.each([
    ['postgres://remit:remit@127.0.0.1/remit', /^problem: the password of remit is empty or a def/],
    ['postgres://remit@10.0.0.1/remit', /^problem: the password of remit is empty or a default/],
    ['postgres://remit:l0ng-enough@db.internal/remit', /^warning: .*check the certificate/],
    ['postgres://remit:l0ng-enough@db.internal/remit?sslmode=verify-full', /^ok: PostgreSQL on db/],
    ['postgres://remit:l0ng-enough@localhost/remit', /^ok: PostgreSQL on localhost/],
  ])('database: judges the password and TLS of %s', async (url, said) => {
    expect(await check('database', { REMIT_DATABASE_URL: url })).toMatch(said)
  })

  it('database: tells a file that others can read', async () => {
    const path = installation.env['REMIT_DATABASE_URL']?.slice('sqlite:'.length) ?? ''
    chmodSync(path, 0o644)
    expect(await check('database')).toMatch(/^problem: .* can be read by others/)
    chmodSync(path, 0o600)
    expect(await check('database')).toBe(`ok: ${path}`)
  })

  it('migrations: tells tables of an earlier version', async () => {
    expect(await check('migrations')).toMatch(/^ok/)
    const empty = await createInstallation('sqlite', { hasTables: false })
    const said = await empty.database((other) => check('migrations', {}, { db: other }))
    expect(said).toMatch(/^problem: pending: core\/.* and \d+ more$/)
    await empty.remove()
  })

  it.each([
    ['https://remit.example.org', '0.0.0.0', /^ok: https:\/\/remit\.example\.org/],
    ['http://remit.example.org', '127.0.0.1', /^problem: .*plain text/],
    ['http://localhost:8080', '0.0.0.0', /^problem: .*plain text/],
    ['', '0.0.0.0', /^problem: REMIT_BASE_URL is not set: keys are sent in plain text/],
    ['', '127.0.0.1', /^warning: REMIT_BASE_URL is not set, and only this machine/],
  ])('tls: judges the base URL %j of a server on %s', async (url, host, said) => {
    expect(await check('tls', { REMIT_BASE_URL: url, REMIT_HOST: host })).toMatch(said)
  })

  describe('over HTTP', () => {
    let http: Server
    let env: Record<string, string>
    let [status, ahead] = [200, 0]
    let health: object = {}
    beforeEach(async () => {
      http = createServer((_, response) => {
        response
          .writeHead(status, { date: new Date(Date.now() + ahead).toUTCString() })
          .end(JSON.stringify(health))
      }).listen(0, '127.0.0.1')
      await once(http, 'listening')
      env = { REMIT_BASE_URL: `http://127.0.0.1:${(http.address() as AddressInfo).port}` }
    })
    afterEach(() => void http.close())

    it('clock: tells a difference to the clock of the base URL', async () => {
      ahead = 0
      expect(await check('clock', env)).toMatch(/^ok: the same as 127/)
      ahead = 20_000
      expect(await check('clock', env)).toMatch(/^warning: 127.* is (?:19|20|21) seconds ahead$/)
      ahead = -3_600_000
      expect(await check('clock', env)).toMatch(/^problem: 127.* is 3\d{3} seconds behind$/)
      http.close()
      http.closeAllConnections()
      expect(await check('clock', env)).toMatch(/^warning: not compared/)
    })

    it('server: tells one that runs in another mode than these settings say', async () => {
      status = 200
      health = { edition: 'enterprise', evaluation: true }
      expect(await check('server', env)).toMatch(/^problem: .* runs in evaluation mode/)
      expect(await check('server', { ...env, REMIT_EVALUATION: '1' })).toMatch(/^ok/)
      health = { edition: 'community', evaluation: false }
      expect(await check('server', env)).toMatch(/^problem: .* as the community edition/)
      health = { edition: 'enterprise', evaluation: false }
      expect(await check('server', env)).toMatch(/^ok/)
    })

    it('server: tells one that is not ready, or not there', async () => {
      status = 200
      expect(await check('server', env)).toMatch(/^ok: http.*\/ready is ready$/)
      status = 503
      expect(await check('server', env)).toMatch(/^problem: .*\/ready answers 503$/)
      http.close()
      http.closeAllConnections()
      expect(await check('server', env)).toMatch(/^warning: .*\/ready does not answer/)
    })
  })

  it('clock: tells a difference to the clock of PostgreSQL', async () => {
    const postgres = await createInstallation('postgres')
    const env = { REMIT_DATABASE_URL: postgres.env['REMIT_DATABASE_URL'] ?? '', REMIT_BASE_URL: '' }
    await postgres.database(async (other) => {
      expect(await check('clock', env, { db: other })).toBe('ok: the same as the database')
      const late = { db: other, now: () => Date.now() + 120_000 }
      expect(await check('clock', env, late)).toMatch(
        /^problem: the database is \d+ seconds behind/,
      )
    })
    await postgres.remove()
  })

  it('backup: tells one that is old, missing or not asked for', async () => {
    const folder = file('backups')
    mkdirSync(folder)
    expect(await check('backup')).toBe('warning: not checked')
    expect(await check('backup', {}, { backup: folder })).toMatch(/^problem: .* has no manifest/)
    await cliJson(['backup', join(folder, 'today')], installation.env)
    const aged = (days: number) =>
      check('backup', {}, { backup: folder, ...at(Date.now() + days * DAY_MS) })
    expect(await aged(0)).toBe(`ok: ${join(folder, 'today')} is 0 hours old`)
    expect(await aged(2)).toMatch(/^warning: .* is 48 hours old$/)
    expect(await aged(8)).toMatch(/^problem: /)
  })

  it('checkpoints: tells a folder that is missing, empty or old', async () => {
    const env = { REMIT_CHECKPOINT_DIR: file('checkpoints') }
    expect(await check('checkpoints')).toMatch(/^warning: none outside of the database/)
    expect(await check('checkpoints', env)).toMatch(/^problem: .* no checkpoint .* of acme$/)
    mkdirSync(env.REMIT_CHECKPOINT_DIR)
    const note = join(env.REMIT_CHECKPOINT_DIR, `${org}.txt`)
    writeFileSync(note, '')
    expect(await check('checkpoints', env)).toBe(`ok: ${env.REMIT_CHECKPOINT_DIR}`)
    utimesSync(note, new Date(), new Date(Date.now() - 2 * DAY_MS))
    expect(await check('checkpoints', env)).toMatch(/^warning: no checkpoint within 24 hours/)
  })

  it('witness: tells when nothing else signs or keeps checkpoints', async () => {
    const env = {
      REMIT_CHECKPOINT_DIR: file('c'),
      REMIT_CHECKPOINT_BUCKET: 'https://s3.example.org/remit-checkpoints',
    }
    expect(await check('witness')).toMatch(/^warning: none/)
    expect(await check('witness', env)).toBe('ok: REMIT_CHECKPOINT_BUCKET')
  })

  it('prints a line and an advice for each, and exits with 1 for a problem', async () => {
    const { code, stdout, stderr } = await cli(['check'], installation.env)
    const { code: strict, stdout: json } = await cli(
      ['check', '--strict', '--json'],
      installation.env,
    )
    const { checks } = JSON.parse(json) as { checks: { name: string; status: string }[] }

    expect([code, strict, stderr]).toEqual([1, 1, ''])
    expect(checks.map(({ name }) => name)).toEqual(Object.keys(CHECKS))
    for (const { name, status } of checks)
      expect(stdout).toMatch(new RegExp(`^${status} +${name} +\\S`, 'm'))
    expect(stdout).toMatch(/^\d+ problems, \d+ warnings, \d+ ok\n$/m)
    const missing = await cli(['check', '--backup', 'none'], installation.env)
    expect(missing).toMatchObject({ code: 2, stderr: 'remit: none is not a folder\n' })
  })

  it('exits with 0 for warnings, unless it is strict', () => {
    const [ok, warned, failed] = (['ok', 'warning', 'problem'] as const).map((status) => ({
      status,
    }))
    const exits = [[ok], [ok, warned], [warned, failed]].map((checks) => {
      const found = checks.filter((one) => one !== undefined)
      return [exitOf(found), exitOf(found, true)]
    })
    expect(exits).toEqual([
      [0, 0],
      [0, 1],
      [1, 1],
    ])
  })

  it('has a place for each check in docs/going-to-production.md', () => {
    const page = readFileSync(
      resolve(import.meta.dirname, '../../../docs/going-to-production.md'),
      'utf8',
    )
    for (const name of Object.keys(CHECKS)) expect(page).toContain(`\`${name}\``)
  })
})
