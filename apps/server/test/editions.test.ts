import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { endpoints } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import { setPlan } from '@remit/core/orgs'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { boot } from '../src/boot/boot.ts'
import { readConfig } from '../src/settings/config.ts'
import { issueLicense } from '../src/settings/license.ts'
import type { License } from '../src/settings/license.ts'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request } from './support/process.ts'

const vendor = generateKeyPairSync('ed25519')
const somebody = generateKeyPairSync('ed25519')
const ENTERPRISE: License = {
  customer: 'Acme',
  plan: 'enterprise',
  hosted: false,
  expiresAt: '2999-01-01T00:00:00.000Z',
}

const all = Object.entries(endpoints)
const closed = all.filter(([, { plan }]) => plan !== 'open')
const pathsOf = (wanted: readonly (readonly [string, Endpoint])[]) =>
  wanted.map(([, { method, path }]) => `${method} ${path}`).toSorted()

let installation: Installation
let server: RunningServer
afterEach(async () => {
  await server.stop()
  await installation.remove()
})

interface Started {
  readonly key: string
  /** Messages of the log. */
  readonly log: readonly { readonly msg: string }[]
}

async function start(env: Record<string, string>): Promise<Started> {
  installation = await createInstallation('sqlite', { hasTables: false })
  const settings = {
    ...installation.env,
    REMIT_EVALUATION: '0',
    REMIT_BOOTSTRAP_ORG: 'acme',
    // Every endpoint is asked with a wrong key, too.
    REMIT_FAILED_KEY_LIMIT: '0',
    ...env,
  }
  await cliJson(['ledger', 'keygen', join(installation.folder, 'ledger-key.pem')], {})
  await cliJson(['secrets', 'keygen', join(installation.folder, 'secrets-key.txt')], {})
  const log: { msg: string }[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line) as { msg: string }) }
  server = await createServer(readConfig(settings), {
    licenseKey: vendor.publicKey,
    log: pino({ level: 'info' }, stream),
  })
  return { key: server.first?.secret ?? '', log }
}

const licensed = async (license: Partial<License> = {}, key = vendor.privateKey) => ({
  REMIT_LICENSE_KEY: await issueLicense(key, { ...ENTERPRISE, ...license }),
})

const health = async () =>
  (await (await fetch(`${server.url}/health`)).json()) as Record<string, unknown>

/** The statuses that the given endpoints answer, each once with the key and once without any. */
async function statuses(wanted: typeof all, key: string) {
  const answers: string[] = []
  for (const [name, { method, path }] of wanted) {
    const url = server.url + path.replaceAll(/\{\w+\}/g, '1')
    const body = method === 'GET' || method === 'DELETE' ? undefined : {}
    for (const used of [key, 'none'])
      answers.push(`${name} ${used === key} ${(await request(url, used, method, body)).status}`)
  }
  return answers
}

/** The answer of an endpoint above the open tier without a key. */
const withoutKey = (name: string): number => (endpoints[name]?.public ? 200 : 401)

const served = async (): Promise<string[]> => {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, object>
  }
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .toSorted()
}

async function expectCommunity(key: string): Promise<void> {
  expect(await health()).toEqual({
    status: 'ok',
    edition: 'community',
    version: expect.any(String),
    modules: ['core'],
    evaluation: false,
  })
  expect(await served()).toEqual(pathsOf(all.filter(([, { plan }]) => plan === 'open')))
  expect(await statuses(closed, key)).toEqual(
    closed.flatMap(([name]) => [`${name} true 404`, `${name} false 404`]),
  )
  expect((await request(`${server.url}/v1/scorers`, key)).status).toBe(200)
}

test('the community edition answers exactly the open endpoints', async () => {
  const { key } = await start({})

  expect(closed.length).toBeGreaterThan(0)
  await expectCommunity(key)
})

describe.skipIf(!hasModules())('a start with commercial modules installed', () => {
  test.each<[string, () => Promise<Record<string, string>> | Record<string, string>, string]>([
    ['no license', () => ({}), 'REMIT_LICENSE_KEY is not set (REMIT_EVALUATION=1 to try them)'],
    [
      'an expired license',
      () => licensed({ expiresAt: '2020-01-01T00:00:00.000Z' }),
      'the license expired at 2020-01-01T00:00:00.000Z, more than 30 days ago',
    ],
    [
      'a license that somebody else signed',
      () => licensed({}, somebody.privateKey),
      'the license is not signed by the vendor',
    ],
    [
      'garbage for a license',
      () => ({ REMIT_LICENSE_KEY: 'garbage' }),
      'the license is not a signed JWT',
    ],
  ])('with %s loads none of them and says why in one line', async (_what, env, reason) => {
    const { key, log } = await start(await env())

    expect(server.notice).toBe(`Commercial modules are not loaded: ${reason}.`)
    expect(log.map(({ msg }) => msg)).toEqual([server.notice])
    await expectCommunity(key)
  })

  test('with an enterprise license serves the whole contract, each endpoint once', async () => {
    const { key } = await start(await licensed())

    expect(await health()).toMatchObject({ edition: 'enterprise', evaluation: false })
    expect(server.notice).toBe(
      'Enterprise edition: licensed to Acme, plan enterprise, until 2999-01-01T00:00:00.000Z.',
    )
    expect(await served()).toEqual(pathsOf(all))
    const answers = await statuses(closed, key)
    expect(answers.filter((answer) => answer.endsWith(' 403'))).toEqual([])
    expect(answers.filter((answer) => answer.includes(' false '))).toEqual(
      closed.map(([name]) => `${name} false ${withoutKey(name)}`),
    )
  })

  test('with a team license opens the team’s endpoints and no others, whatever the organization has', async () => {
    const { key } = await start(await licensed({ plan: 'team' }))
    const above = closed.filter(([, { plan }]) => plan === 'enterprise')
    const authorized = await request(`${server.url}/v1/authorize`, key, 'POST', {
      agent_id: 'a',
      action: 'b',
    })

    expect(authorized.status).toBe(200)
    expect(await statuses(above, key)).toEqual(
      above.flatMap(([name]) => [
        `${name} true ${endpoints[name]?.public ? 200 : 403}`,
        `${name} false ${withoutKey(name)}`,
      ]),
    )
  })

  test('with a hosted license, plans are those of the organizations, and new ones are free', async () => {
    const { key } = await start(await licensed({ hosted: true }))
    const ask = () =>
      request(`${server.url}/v1/authorize`, key, 'POST', { agent_id: 'a', action: 'b' })
    const free = await ask()
    const whileFree = await statuses(closed, key)
    const orgId = (
      await installation.database((db) =>
        db.selectFrom('organization').select('id').executeTakeFirstOrThrow(),
      )
    ).id
    await setPlan(server.remit.writer, orgId, 'team')
    const team = await ask()

    expect(server.notice).toContain('plan by organization')
    expect(free.status).toBe(403)
    expect(await free.json()).toMatchObject({ code: 'plan_required', required_plan: 'team' })
    expect(whileFree).toEqual(
      closed.flatMap(([name]) => [
        `${name} true ${endpoints[name]?.public ? 200 : 403}`,
        `${name} false ${withoutKey(name)}`,
      ]),
    )
    expect(team.status).toBe(200)
  })

  test('in evaluation opens everything and says so, a refused license too', async () => {
    const { key } = await start({ REMIT_EVALUATION: '1', REMIT_LICENSE_KEY: 'garbage' })

    expect(await health()).toMatchObject({ edition: 'enterprise', evaluation: true })
    expect(server.notice).toBe(
      'Evaluation: every module is loaded without a license (the license is not a signed JWT). Not for production.',
    )
    expect((await request(`${server.url}/v1/ledger`, key)).status).toBe(200)
  })

  test('names the address that is set as AuthZEN’s decision point, to who has no key too', async () => {
    await start({ REMIT_BASE_URL: 'https://pdp.example.com', ...(await licensed()) })

    const metadata = await fetch(`${server.url}/.well-known/authzen-configuration`)

    expect(await metadata.json()).toMatchObject({
      policy_decision_point: 'https://pdp.example.com',
    })
  })

  test('a license wins over evaluation', async () => {
    await start({ REMIT_EVALUATION: '1', ...(await licensed()) })

    expect(await health()).toMatchObject({ edition: 'enterprise', evaluation: false })
  })
})

describe.skipIf(!hasModules())('organizations without a plan of their own', () => {
  test.each([
    ['hosted', 'free', true],
    ['self-hosted', 'enterprise', false],
  ] as const)('under a %s license are made with plan %s', async (_what, plan, hosted) => {
    await start({})
    await server.stop()
    const settings = { ...installation.env, REMIT_EVALUATION: '0', ...(await licensed({ hosted })) }
    const booted = await boot(readConfig(settings), {
      licenseKey: vendor.publicKey,
      log: pino({ level: 'silent' }),
    })
    const made = await booted.newOrganization('by default')
    const asked = await booted.newOrganization('as asked', { plan: 'team' })
    await booted.remit.close()

    expect(made.organization.plan).toBe(plan)
    expect(asked.organization.plan).toBe('team')
  })
})

describe.skipIf(!hasModules())('a licensed start', () => {
  test('without a ledger key asks for one by the name of the setting; it makes none up', async () => {
    await start({})
    const settings = {
      ...installation.env,
      REMIT_EVALUATION: '0',
      REMIT_LEDGER_KEY_FILE: `${installation.folder}/none.pem`,
      ...(await licensed()),
    }
    const refused = createServer(readConfig(settings), {
      licenseKey: vendor.publicKey,
      log: pino({ level: 'silent' }),
    })

    await expect(refused).rejects.toThrow(
      /^REMIT_LEDGER_KEY_FILE: .+none\.pem does not exist; create it with `remit ledger keygen/,
    )
  })
})
