import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import { inFullRun } from '@remit/testing/pure'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer, ServerOptions } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { issueLicense, LICENSE_CONTACT } from '../src/settings/license.ts'
import { cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request } from './support/process.ts'

const isRun = inFullRun('starts with licenses')

const vendor = generateKeyPairSync('ed25519')
const DAY_MS = 86_400_000

interface Line {
  readonly level: number
  readonly msg: string
}
const WARN = 40
const ERROR = 50

let installation: Installation
let servers: RunningServer[] = []
let log: Line[] = []
beforeEach(async () => {
  servers = []
  log = []
  installation = await createInstallation('sqlite', { hasTables: false })
  await cliJson(['ledger', 'keygen', join(installation.folder, 'ledger-key.pem')], {})
  await cliJson(['secrets', 'keygen', join(installation.folder, 'secrets-key.txt')], {})
})
afterEach(async () => {
  for (const server of servers) await server.stop()
  await installation.remove()
})

async function start(env: Record<string, string>, options: ServerOptions = {}) {
  const settings = {
    ...installation.env,
    REMIT_EVALUATION: '0',
    REMIT_BOOTSTRAP_ORG: 'acme',
    ...env,
  }
  const stream = { write: (line: string) => void log.push(JSON.parse(line) as Line) }
  const server = await createServer(readConfig(settings), {
    licenseKey: vendor.publicKey,
    log: pino({ level: 'info' }, stream),
    ...options,
  })
  servers.push(server)
  return server
}

/** A license that expires this many days from now; it has whole seconds. */
async function license(days: number, hosted = false) {
  const expiresAt = new Date(Math.floor((Date.now() + days * DAY_MS) / 1000) * 1000).toISOString()
  const issued = { customer: 'Acme', plan: 'enterprise', hosted, expiresAt } as const
  return { expiresAt, REMIT_LICENSE_KEY: await issueLicense(vendor.privateKey, issued) }
}

const ready = async ({ url }: RunningServer) =>
  (await (await fetch(`${url}/ready`)).json()) as { status: string; warnings: string[] }

const ofLicense = (warnings: readonly string[]) =>
  warnings.filter((text) => text.startsWith('The license'))

async function licenseInSession({ url, first }: RunningServer) {
  const answer = await request(`${url}/v1/session`, first?.secret ?? '')
  return ((await answer.json()) as { license: object | null }).license
}

const toldOf = ({ expiresAt }: { expiresAt: string }) =>
  log.filter(({ msg }) => msg.startsWith('The license expire') && msg.includes(expiresAt))

describe.skipIf(!isRun || !hasModules())('a license that expires', () => {
  test('in its grace period loads every module; readiness, log, metric and session say so', async () => {
    const expired = await license(-2)
    const server = await start(expired, { remindEveryMs: 50 })
    const { first, url } = server

    const decided = await request(`${url}/v1/authorize`, first?.secret ?? '', 'POST', {
      agent_id: 'a',
      action: 'b',
    })
    expect(decided.status).toBe(200)
    const { status, warnings } = await ready(server)
    expect(status).toBe('ready')
    expect(ofLicense(warnings)).toEqual([
      expect.stringContaining(`The license expired at ${expired.expiresAt}`),
    ])
    expect(server.notice).toContain('in its grace period until')
    expect(await licenseInSession(server)).toEqual({
      expires_at: expired.expiresAt,
      grace_ends_at: new Date(Date.parse(expired.expiresAt) + 30 * DAY_MS).toISOString(),
    })
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const [, seconds] = /^remit_license_expires_seconds (\S+)$/m.exec(metrics) ?? []
    expect(Number(seconds)).toBeGreaterThan(-2 * 86_400 - 60)
    expect(Number(seconds)).toBeLessThan(-2 * 86_400 + 60)
    // At the start, and again.
    await vi.waitFor(() => expect(toldOf(expired).length).toBeGreaterThan(1))
    expect(toldOf(expired).map(({ level }) => level)).toContain(ERROR)
    expect(toldOf(expired).map(({ level }) => level)).not.toContain(WARN)
  })

  test('is told from 30 days before, as a warning, and not earlier', async () => {
    const near = await license(29)
    const far = await license(31)

    const server = await start(near)
    expect(ofLicense((await ready(server)).warnings)).toEqual([
      expect.stringContaining(`The license expires at ${near.expiresAt}`),
    ])
    expect(toldOf(near).map(({ level }) => level)).toEqual([WARN])
    await server.stop()
    expect(ofLicense((await ready(await start(far))).warnings)).toEqual([])
    expect(toldOf(far)).toEqual([])
  })

  test('is not shown to the customers of a hosted service', async () => {
    expect(await licenseInSession(await start(await license(5, true)))).toBeNull()
  })
})

describe.skipIf(!isRun || !hasModules())('a database that commercial modules have used', () => {
  beforeEach(async () => {
    await (await start({ REMIT_EVALUATION: '1' })).stop()
  })

  test.each<[string, () => Promise<Record<string, string>>, string]>([
    ['without a license', () => Promise.resolve({}), 'REMIT_LICENSE_KEY is not set'],
    ['with an expired one', () => license(-31), 'more than 30 days ago'],
    [
      'with garbage for one',
      () => Promise.resolve({ REMIT_LICENSE_KEY: 'garbage' }),
      'the license is not a signed JWT',
    ],
  ])('%s stops the start, which says why and what to do', async (_what, env, reason) => {
    const refused = start(await env())

    await expect(refused).rejects.toThrow('The database has the data of commercial modules.')
    await expect(refused).rejects.toThrow(reason)
    await expect(refused).rejects.toThrow(LICENSE_CONTACT)
    await expect(refused).rejects.toThrow('REMIT_EDITION=community')
  })

  test('serves the community edition to who asks for it, and all of it again after that', async () => {
    const server = await start({ REMIT_EDITION: 'community' })
    expect(server.edition).toBe('community')
    await server.stop()

    expect((await start(await license(100))).edition).toBe('enterprise')
  })
})

test.skipIf(!isRun)(
  'REMIT_EDITION=enterprise never starts as the community edition, on an empty database either',
  async () => {
    await expect(start({ REMIT_EDITION: 'enterprise' })).rejects.toThrow(
      /^REMIT_EDITION is enterprise, and this start is not\. .*Set REMIT_LICENSE_KEY/,
    )
  },
)

test.skipIf(!isRun || !hasModules())(
  'REMIT_EDITION=community loads no module, with a license too',
  async () => {
    const server = await start({ REMIT_EDITION: 'community', ...(await license(100)) })

    expect(server.edition).toBe('community')
  },
)

test.skipIf(!isRun).each(['README.md', 'LICENSE-ENTERPRISE', 'docs/editions.md'])(
  '%s names the address for licenses that the server names',
  (file) => {
    const text = readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8')
    expect(text.match(/\blicenses@[\w.-]+\w/g)).toEqual([LICENSE_CONTACT])
  },
)
