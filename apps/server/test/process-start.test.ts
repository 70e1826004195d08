import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { generateKey } from '@remit/core/keys'
import { listOrganizations } from '@remit/core/orgs'
import { pino } from 'pino'
import { inFullRun } from '@remit/testing/pure'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { boot } from '../src/boot/boot.ts'
import { bootstrap } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { hasModules } from '../src/boot/modules.ts'
import { cli, cliJson } from './support/cli.ts'
import type { CliResult } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { remit, request, RunningProcess, startServer } from './support/process.ts'

const isRun = inFullRun('starts that fail or are many')

let installation: Installation
let env: Record<string, string>
beforeEach(async () => {
  installation = await createInstallation('sqlite', { hasTables: false })
  env = { ...installation.env, REMIT_BOOTSTRAP_ORG: 'demo' }
})
afterEach(() => installation.remove())

const KEY = /rmk_[0-9A-Za-z]{65}/g
const logOf = (stderr: string) =>
  stderr
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { msg: string })

/** The program that `pnpm start` runs, once it has said where it is. */
async function start(settings = env): Promise<{ url: string; server: RunningProcess }> {
  const server = new RunningProcess('main', [], settings)
  const [, url = ''] = await server.says(/Remit listens on (\S+)\n[^]*\n\n$/)
  return { url, server }
}

/** The same in this process, for what a start does and prints: a process would load the server again. */
async function startHere(
  settings = env,
): Promise<{ url: string; said: () => string; stop: () => Promise<CliResult> }> {
  const end = new AbortController()
  const banner = Promise.withResolvers<string>()
  let said = ''
  const onText = (text: string) => {
    said += text
    const [, url] = /Remit listens on (\S+)\n[^]*\n\n$/.exec(said) ?? []
    if (url !== undefined) banner.resolve(url)
  }
  const served = cli(
    ['serve'],
    { REMIT_LOG_LEVEL: 'silent', ...settings },
    { signal: end.signal, onText },
  )
  const ended = served.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`)))
  const url = await Promise.race([banner.promise, ended])
  ended.catch(() => undefined)
  const stop = () => {
    end.abort()
    return served
  }
  return { url, said: () => said, stop }
}

describe('the first start', () => {
  test('makes the organization and prints its key once, with lines that work', async () => {
    const { url, server } = await start()
    const [key = ''] = server.stdout.match(KEY) ?? []
    const answer = await request(`${url}/v1/scorers`, key)
    const { code, stdout } = await server.stop()

    expect(answer.status).toBe(200)
    expect(code).toBe(0)
    expect(new Set(stdout.match(KEY))).toEqual(new Set([key]))
    expect(stdout).toContain('Organization demo. Its admin key, shown this once:')
    expect(stdout.match(/curl -s \S*http:\/\/localhost:\d+/g)?.length).toBe(3)
  })

  test('a second start on the same data keeps the organization and prints no key', async () => {
    const first = await startHere()
    await first.stop()
    const [key = ''] = first.said().match(KEY) ?? []
    const second = await startHere()
    const answer = await request(`${second.url}/v1/scorers`, key)
    await second.stop()
    const { organizations } = await cliJson<{ organizations: { name: string }[] }>(
      ['org', 'list'],
      env,
    )

    expect(answer.status).toBe(200)
    expect(second.said()).not.toMatch(KEY)
    expect(organizations.map(({ name }) => name)).toEqual(['demo'])
  })

  test('takes a key that it is given, and does not print it', async () => {
    const { secret } = generateKey()
    const { url, server } = await start({ ...env, REMIT_BOOTSTRAP_KEY: secret })
    const answer = await request(`${url}/v1/scorers`, secret)
    const { stdout, stderr } = await server.stop()

    expect(answer.status).toBe(200)
    expect(stdout + stderr).not.toMatch(KEY)
  })

  test('with serve --json prints the same facts as one line', async () => {
    const { url, server } = await startServer(env)
    const { stdout } = await server.stop()

    expect(JSON.parse(stdout)).toMatchObject({
      url,
      metrics_url: null,
      first: { organization: 'demo', given: false, secret: expect.stringMatching(/^rmk_/) },
    })
  })
})

describe.skipIf(!isRun)('several first starts at once on PostgreSQL', () => {
  test('make the organization once, and every one of them serves it', async () => {
    const shared = await createInstallation('postgres', { hasTables: false })
    const { secret } = generateKey()
    const settings = { ...shared.env, REMIT_BOOTSTRAP_KEY: secret }
    const started = await Promise.all([start(settings), start(settings), start(settings)])
    const answers = await Promise.all(
      started.map(({ url }) => request(`${url}/v1/scorers`, secret)),
    )
    const codes = await Promise.all(started.map(async ({ server }) => (await server.stop()).code))
    await shared.remove()

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(codes).toEqual([0, 0, 0])
  })
})

test('of many bootstraps at once one makes the organization, and none fails', async () => {
  const shared = await createInstallation('postgres', { hasTables: false })
  const config = readConfig({ ...shared.env, REMIT_BOOTSTRAP_KEY: generateKey().secret })
  const booted = await boot(config, { log: pino({ level: 'silent' }) })
  const made = await Promise.all(Array.from({ length: 8 }, () => bootstrap(booted)))
  const organizations = await listOrganizations(booted.db)
  await booted.remit.close()
  await shared.remove()

  expect(made.filter((first) => first !== null)).toHaveLength(1)
  expect(organizations).toHaveLength(1)
})

describe('the login link of an evaluation', () => {
  const LINK = /http:\S+(\/console\/start\?token=[\w-]{43})\n/

  test('signs in once with the admin key, also at a later start', async () => {
    const { REMIT_BASE_URL: _, ...local } = env
    for (let round = 0; round < 2; round++) {
      const { url, said, stop } = await startHere(local)
      const [, path = ''] = LINK.exec(said()) ?? []
      const open = () => fetch(url + path, { redirect: 'manual' })
      const response = await open()
      const [cookie = ''] = response.headers.getSetCookie()
      expect([response.status, response.headers.get('location')]).toEqual([303, '/console'])
      expect(cookie).toMatch(
        new RegExp(`^remit_session_${new URL(url).port}=\\S+; Path=/; HttpOnly; SameSite=Lax$`),
      )
      const session = await fetch(`${url}/v1/session`, { headers: { cookie } })
      expect(await session.json()).toMatchObject({
        principal: { type: 'key', role: 'admin' },
        organization: { name: 'demo' },
      })
      expect((await open()).status).toBe(410)
      await stop()
    }
  })

  test.each([
    ['with a public address', {}],
    ['outside of an evaluation', { REMIT_EVALUATION: '0' }],
    ['on an address that other machines reach', { REMIT_BASE_URL: '', REMIT_HOST: '0.0.0.0' }],
  ])('is not printed %s', async (_, settings) => {
    const { stop } = await startHere({ ...env, ...settings })
    const { stdout } = await stop()
    expect(stdout).not.toMatch(LINK)
  })
})

describe('output', () => {
  test('is the banner on standard output and the log, a JSON object a line, on standard error', async () => {
    const { server } = await start({ ...env, REMIT_LOG_LEVEL: 'debug' })
    const { stdout, stderr } = await server.stop()

    const [, , notice] = stdout.split('\n')
    expect(logOf(stderr).map(({ msg }) => msg)).toContain(notice)
    expect(stdout).not.toContain('{"level"')
  })

  test('with REMIT_LOG_LEVEL=silent is the banner alone', async () => {
    const { server } = await start({ ...env, REMIT_LOG_LEVEL: 'silent' })
    const { stdout, stderr } = await server.stop()

    expect(stderr).toBe('')
    expect(stdout).toMatch(/^\nRemit listens on http/)
  })
})

describe('a start with another ledger key', () => {
  test('says whose ledgers it cannot write, and decides nothing for them', async () => {
    const first = await startHere()
    await first.stop()
    const [key = ''] = first.said().match(KEY) ?? []
    const { url, server } = await start({
      ...env,
      REMIT_LEDGER_KEY_FILE: `${installation.folder}/other-key.pem`,
    })
    await server.logs(
      /"organizations":\["org_\w+"\],"msg":"ledgers are signed with a different key/,
    )
    const authorized = await request(`${url}/v1/authorize`, key, 'POST', {
      agent_id: 'payer',
      action: 'pay',
    })
    await server.stop()

    expect(authorized.status).toBe(hasModules() ? 503 : 404)
  })
})

test('a bootstrap key of another organization ends the start with 78, and makes nothing', async () => {
  const { secret } = generateKey()
  const first = await startHere({ ...env, REMIT_BOOTSTRAP_KEY: secret })
  await first.stop()
  const settings = { ...env, REMIT_BOOTSTRAP_KEY: secret, REMIT_BOOTSTRAP_ORG: 'renamed' }
  const ended = await remit(['serve'], { ...settings, REMIT_LOG_LEVEL: 'silent' })
  const { organizations } = await cliJson<{ organizations: unknown[] }>(['org', 'list'], env)

  expect(ended).toEqual({
    code: 78,
    stdout: '',
    stderr: 'remit: REMIT_BOOTSTRAP_KEY already belongs to another organization\n',
  })
  expect(organizations).toHaveLength(1)
})

describe('a start beside Services of Kubernetes whose names begin with remit', () => {
  test('succeeds, and warns of the one name that nobody set for a reason', async () => {
    const { server } = await start({
      ...env,
      REMIT_METRICS_PORT: 'tcp://10.96.0.8:9090',
      REMIT_SERVICE_HOST: '10.96.0.7',
      REMIT_PORT_80_TCP_PROTO: 'tcp',
      REMIT_POSTGRES_SERVICE_HOST: '10.96.0.10',
      REMIT_FLAVOUR: 'vanilla',
      REMIT_LOG_LEVEL: 'warn',
    })
    const { code, stderr } = await server.stop()

    expect(code).toBe(0)
    const said = logOf(stderr).map(({ msg }) => msg)
    // The community edition has no evaluation.
    expect(said.filter((msg) => msg.startsWith('Evaluation: '))).toHaveLength(hasModules() ? 1 : 0)
    expect(said.filter((msg) => !msg.startsWith('Evaluation: '))).toEqual([
      'REMIT_FLAVOUR is ignored: unknown setting; see docs/configuration.md',
    ])
  })
})

describe.skipIf(!isRun)('a start that cannot be', () => {
  test.each([
    [
      'REMIT_PORT',
      'eighty',
      /^remit: REMIT_PORT must be a whole number from 0 to 65535; given: "eighty"\n$/,
    ],
    [
      'REMIT_DATABASE_URL',
      'mysql://me:swordfish@db/x',
      /^remit: REMIT_DATABASE_URL .+; given: \(not shown\)\n$/,
    ],
    [
      'REMIT_DATABASE_URL',
      'postgres://me:sword%fish@db/x',
      /^remit: REMIT_DATABASE_URL .+; given: \(not shown\)\n$/,
    ],
    [
      'REMIT_BOOTSTRAP_KEY',
      `rmk_${'swordfish'.repeat(8).slice(0, 65)}`,
      /^remit: REMIT_BOOTSTRAP_KEY .+; given: \(not shown\)\n$/,
    ],
    [
      'REMIT_SPEND_URL',
      'ftp://me:swordfish@spend',
      /^remit: REMIT_SPEND_URL .+; given: \(not shown\)\n$/,
    ],
    [
      'REMIT_PROT',
      'swordfish',
      /^remit: REMIT_PROT is not a setting; did you mean REMIT_PORT\?\n$/,
    ],
  ])(
    'for a bad %s (%s) ends with 78, naming it and showing no secret',
    async (name, value, message) => {
      const ended = await cli(['serve'], { ...env, [name]: value })

      expect(ended).toMatchObject({ code: 78, stdout: '' })
      expect(ended.stderr).toMatch(message)
      expect(ended.stderr).not.toMatch(/sword%?fish/)
    },
  )

  test('for a bad setting ends the process that `pnpm start` runs with 78', async () => {
    const ended = await new RunningProcess('main', [], { ...env, REMIT_PORT: 'eighty' }).ended()

    expect(ended).toEqual({
      code: 78,
      stdout: '',
      stderr: expect.stringMatching(/^remit: REMIT_PORT must be .+; given: "eighty"\n$/),
    })
  })

  test.each(['REMIT_PORT', 'REMIT_METRICS_PORT'])(
    'for a port that is taken ends with 2 and one line, which names %s, and keeps the key for the next start',
    async (setting) => {
      const holder = createTcpServer().listen(0, '127.0.0.1')
      await once(holder, 'listening')
      const { port } = holder.address() as AddressInfo
      const ended = await remit(['serve'], { ...env, [setting]: String(port) })
      holder.close()

      expect(ended).toEqual({
        code: 2,
        stdout: '',
        stderr: `remit: Port ${port} on 127.0.0.1 is already in use; set ${setting} to another port\n`,
      })
      const { server } = await start()
      expect((await server.stop()).stdout).toContain('Its admin key, shown this once:')
    },
  )
})

describe('REMIT_METRICS_PORT', () => {
  test('takes /metrics off the public port onto its own', async () => {
    const { url, server } = await start({
      ...env,
      REMIT_METRICS_PORT: '0',
      REMIT_LOG_LEVEL: 'info',
    })
    const [{ metrics }] = logOf(server.stderr) as unknown as [{ metrics: string }]
    const [here, there] = await Promise.all([fetch(`${url}/metrics`), fetch(metrics)])
    const [health, elsewhere] = await Promise.all([
      fetch(`${url}/health`),
      fetch(new URL('/health', metrics)),
    ])
    const { code } = await server.stop()

    expect([here.status, there.status, health.status, elsewhere.status]).toEqual([
      404, 200, 200, 404,
    ])
    expect(await there.text()).toContain('# TYPE')
    expect(code).toBe(0)
  })
})
