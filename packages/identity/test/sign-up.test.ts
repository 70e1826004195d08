import { createSecretKey, randomBytes } from 'node:crypto'
import { on } from '@remit/core/db'
import type { Settings } from '@remit/core/module'
import { createOutbound } from '@remit/core/net'
import { PLAN_LIMITS } from '@remit/core/orgs/settings'
import { listOrganizations } from '@remit/core/orgs'
import { SECRETS_KEY_BYTES } from '@remit/core/secrets'
import {
  oidcSettings,
  apiOf,
  citusNodes,
  createClock,
  createTestRemit,
  runStatement,
  someDialects,
  startLoginProvider,
  LOGIN_BASE as BASE,
  LoginBrowser,
} from '@remit/testing'
import type { LoginProvider, TestRemit } from '@remit/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Tables } from '../src/tables/schema.ts'
import { modules } from './support/api.ts'

const EVE = { email: 'Eve@example.org', email_verified: true, name: 'Eve' }
const SIGN_UP = '/console/login?signup=1'

let provider: LoginProvider
beforeAll(async () => {
  provider = await startLoginProvider([BASE])
})
afterAll(() => provider.close())
beforeEach(() => {
  provider.accounts.clear()
  provider.subject = 'eve'
  provider.accounts.set('eve', EVE)
})

const oidc = () => oidcSettings(provider)
const secretsKeys = [createSecretKey(randomBytes(SECRETS_KEY_BYTES))]
const start = (from: object, settings: Partial<Settings> = {}) =>
  createTestRemit({
    ...from,
    modules,
    secretsKeys,
    clock: createClock(new Date().toISOString()),
    outbound: createOutbound({ allowLoopback: true }),
    settings: { oidc: oidc(), signUpsPerHour: 1_000, ...settings },
  })

describe.each(someDialects())('sign-up on %s', (dialect) => {
  let remit: TestRemit
  beforeEach(async () => {
    remit = await start({ dialect })
  })
  afterEach(() => remit.close())

  const names = async () => (await listOrganizations(remit.db)).map(({ name }) => name)

  it('a new person gets an organization on the plan free, is its administrator and sees its key once', async () => {
    const browser = new LoginBrowser(remit)
    const page = await browser.open(SIGN_UP)
    expect(page.status).toBe(200)
    const [key = ''] = /rmk_[0-9A-Za-z]{65}/.exec(page.text) ?? []

    const session = await browser.session()
    expect(session.principal).toMatchObject({ email: 'Eve@example.org', role: 'admin' })
    const [organization] = await listOrganizations(remit.db)
    expect(organization).toMatchObject({ name: 'eve@example.org', plan: 'free' })
    expect(JSON.parse(organization?.limits ?? '')).toEqual(PLAN_LIMITS.free)
    const api = apiOf(remit, { id: organization?.id ?? '', key })
    expect((await api.ok('getSession')).organization).toMatchObject({ id: organization?.id })
    const kinds = await remit.db
      .selectFrom('ledger_entry')
      .select('kind')
      .where('org_id', '=', organization?.id ?? '')
      .orderBy('seq')
      .execute()
    expect(kinds.map(({ kind }) => kind).slice(1)).toEqual([
      'organization.created',
      'key.created',
      'person.invited',
      'person.signed_in',
    ])

    // Again: the same organization, and no key.
    const again = await new LoginBrowser(remit).open(SIGN_UP, (url) => url.pathname === '/console')
    expect([again.status, await names()]).toEqual([303, ['eve@example.org']])
  })

  it('nothing is created without the wish of the person', async () => {
    const plain = await new LoginBrowser(remit).open('/console/login')
    expect([plain.status, plain.text]).toEqual([
      403,
      expect.stringContaining('Create an organization'),
    ])
    // A link on another site.
    const crossed = await remit.call('GET', SIGN_UP, {
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    const cookie = crossed.headers
      .getSetCookie()
      .map((text) => text.split(';')[0])
      .join('; ')
    const browser = new LoginBrowser(remit)
    const { url } = await browser.open(
      crossed.headers.get('location') ?? '',
      (next) => next.pathname === '/console/callback',
    )
    const back = await remit.call('GET', `${url.pathname}${url.search}`, { headers: { cookie } })
    expect([back.status, await back.text()]).toEqual([
      403,
      expect.stringContaining('No organization'),
    ])
    expect(await names()).toEqual([])
  })

  it.each([
    ['without an address', {}],
    ['with an address that the provider has not verified', { ...EVE, email_verified: false }],
    ['with a claim that only looks verified', { ...EVE, email_verified: 'true' }],
  ])('an account %s gets none', async (_, claims) => {
    provider.accounts.set('eve', claims)
    const { status, text } = await new LoginBrowser(remit).open(SIGN_UP)
    expect([status, text]).toEqual([403, expect.stringContaining('has not verified')])
    expect(await names()).toEqual([])
  })

  it('one address has one organization, on all processes and whatever the account', async () => {
    const second = await start({ url: remit.url, signingKey: remit.signingKey })
    const browsers = Array.from({ length: 6 }, (_, i) => new LoginBrowser(i % 2 ? remit : second))
    await Promise.all(
      browsers.map((browser) => browser.open(SIGN_UP, (url) => url.pathname === '/console')),
    )
    expect(await names()).toEqual(['eve@example.org'])

    // Another account of the provider with the same address is another person.
    provider.subject = 'mallory'
    provider.accounts.set('mallory', { ...EVE, email: 'EVE@example.org' })
    const { status, text } = await new LoginBrowser(remit).open(SIGN_UP)
    expect([status, text]).toEqual([
      403,
      expect.stringContaining('an organization for this address exists'),
    ])
    expect(await names()).toEqual(['eve@example.org'])
    await second.close()
  })

  it('a person whom an organization invited or knows signs in there', async () => {
    const org = await remit.organization('team')
    await apiOf(remit, org).ok('invitePerson', { body: { email: EVE.email, role: 'read' } })
    const browser = new LoginBrowser(remit)
    await browser.open(SIGN_UP, (url) => url.pathname === '/console')
    expect((await browser.session()).organization).toMatchObject({ id: org.id })
    // A disabled person does not get around it.
    await on<Tables>(remit.db)
      .updateTable('person')
      .set({ status: 'disabled' })
      .where('org_id', '=', org.id)
      .execute()
    const { status, text } = await new LoginBrowser(remit).open(SIGN_UP)
    expect([status, text]).toEqual([403, expect.stringContaining('disabled')])
    expect(await names()).toHaveLength(1)
  })

  it.runIf(citusNodes().length > 0)(
    'nothing is created while an organization that may know the person cannot be read',
    async () => {
      const org = await remit.organization('team')
      await apiOf(remit, org).ok('invitePerson', { body: { email: EVE.email, role: 'read' } })
      const table = `'person'::regclass`
      const [shard] = (await runStatement(
        remit.url,
        `select nodeport as port, shard_name(${table}, shardid) as name from citus_shards
          where table_name = ${table}
          and shardid = get_shard_id_for_distribution_column(${table}, '${org.id}')`,
      )) as { port: number; name: string }[]
      const node = new URL(remit.url)
      node.port = String(shard?.port)
      const hide = `set citus.enable_manual_changes_to_shards = on;`
      await runStatement(node.href, `${hide} alter table ${shard?.name} rename to hidden`)

      const { status, text } = await new LoginBrowser(remit).open(SIGN_UP)
      expect([status, text]).toEqual([503, expect.stringContaining('Not all organizations')])
      expect(await names()).toHaveLength(1)
      await runStatement(node.href, `${hide} alter table hidden rename to ${shard?.name}`)
      const browser = new LoginBrowser(remit)
      await browser.open(SIGN_UP, (url) => url.pathname === '/console')
      expect((await browser.session()).organization).toMatchObject({ id: org.id })
    },
  )

  it('a sign-up that ended before the session is finished by the next sign-in', async () => {
    const broken = await start({ url: remit.url, signingKey: remit.signingKey })
    // The organization is committed, and the process ends before it signs in.
    broken.writer.work = () => Promise.reject(new Error('ended'))
    expect((await new LoginBrowser(broken).open(SIGN_UP)).status).toBe(500)
    await broken.close()
    const browser = new LoginBrowser(remit)
    await browser.open('/console/login', (url) => url.pathname === '/console')
    expect((await browser.session()).principal).toMatchObject({ role: 'admin' })
    expect(await names()).toEqual(['eve@example.org'])
  })
})

describe('sign-up', () => {
  it('is limited by network and by hour', async () => {
    for (const [signUpsPerHour, most] of [
      [1_000, 5],
      [2, 2],
    ] as const) {
      const remit = await start({}, { signUpsPerHour })
      for (let i = 0; i <= most; i++) {
        provider.subject = `eve${i}`
        provider.accounts.set(provider.subject, { ...EVE, email: `eve${i}@example.org` })
        const { status, text } = await new LoginBrowser(remit).open(SIGN_UP)
        const isRefused = status === 403 && text.includes('too many sign-ups')
        expect([i, status, isRefused]).toEqual([i, i < most ? 200 : 403, i === most])
      }
      expect(await listOrganizations(remit.db)).toHaveLength(most)
      await remit.close()
    }
  })

  it('is off by default, and never of an organization’s own provider', async () => {
    const off = await createTestRemit({
      modules,
      secretsKeys,
      outbound: createOutbound({ allowLoopback: true }),
      settings: { oidc: oidc() },
    })
    const { status, text } = await new LoginBrowser(off).open(SIGN_UP)
    expect([status, text]).toEqual([403, expect.not.stringContaining('Create an organization')])
    expect(await listOrganizations(off.db)).toEqual([])
    await off.close()

    const remit = await start({})
    const org = await remit.organization('team')
    const page = await new LoginBrowser(remit).open(`${SIGN_UP}&organization=${org.id}`)
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('No organization')])
    expect(await listOrganizations(remit.db)).toHaveLength(1)
    await remit.close()
  })
})
