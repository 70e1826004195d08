import { createSecretKey, randomBytes } from 'node:crypto'
import { on } from '@remit/core/db'
import type { OidcSettings } from '@remit/core/module'
import { createOutbound } from '@remit/core/net'
import { createSecretBox, SECRETS_KEY_BYTES } from '@remit/core/secrets'
import {
  oidcSettings,
  apiOf,
  createClock,
  createTestRemit,
  someDialects,
  startLoginProvider,
  LOGIN_BASE as BASE,
  LoginBrowser,
} from '@remit/testing'
import type { Api, LoginProvider, TestClock, TestRemit } from '@remit/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openAttempt, sealAttempt } from '../src/login/sign-in.ts'
import type { Tables } from '../src/tables/schema.ts'
import { modules } from './support/api.ts'

const ADA = { email: 'ada@example.org', email_verified: true, name: 'Ada' }

let provider: LoginProvider
beforeAll(async () => {
  provider = await startLoginProvider([BASE])
})
afterAll(() => provider.close())
beforeEach(() => {
  provider.accounts.clear()
  provider.subject = 'ada'
  provider.accounts.set('ada', ADA)
})

const settings = (more: Partial<OidcSettings> = {}) => oidcSettings(provider, more)

const newKey = () => createSecretKey(randomBytes(SECRETS_KEY_BYTES))
const secretsKeys = [newKey()]
const secrets = createSecretBox(secretsKeys)

const outbound = createOutbound({ allowLoopback: true })
const isCallback = (url: URL) => url.pathname === '/console/callback'
/** Each test has people of its own: an address is invited by one organization only. */
const forget = (remit: TestRemit) => on<Tables>(remit.db).deleteFrom('person').execute()

const entriesOf = (remit: TestRemit, orgId: string) =>
  remit.db
    .selectFrom('ledger_entry')
    .select(['kind', 'payload'])
    .where('org_id', '=', orgId)
    .orderBy('seq')
    .execute()

describe.each(someDialects())('sign-in with an OpenID provider on %s', (dialect) => {
  let remit: TestRemit
  let other: TestRemit
  let clock: TestClock
  let api: Api
  beforeAll(async () => {
    clock = createClock(new Date().toISOString())
    const options = { modules, clock, outbound, secretsKeys, settings: { oidc: settings() } }
    remit = await createTestRemit({ dialect, ...options })
    other = await createTestRemit({ url: remit.url, signingKey: remit.signingKey, ...options })
  })
  afterAll(async () => {
    await other.close()
    await remit.close()
  })
  beforeEach(async () => {
    clock.set(new Date().toISOString())
    api = apiOf(remit, await remit.organization('team'))
  })
  afterEach(() => forget(remit))

  const invite = (more: object = {}) =>
    api.ok('invitePerson', { body: { email: 'Ada@example.org', role: 'approver', ...more } })
  const kinds = async () =>
    (await entriesOf(remit, api.org.id))
      .map(({ kind }) => kind)
      .filter((kind) => kind.startsWith('person.'))

  it('an invited person gets a session with the invited role, and leaves entries', async () => {
    const { id } = await invite()
    const browser = new LoginBrowser(remit)
    const { url, status } = await browser.open(
      '/console/login',
      (next) => next.pathname === '/console',
    )
    expect([url.pathname, status]).toEqual(['/console', 303])
    const session = await browser.session()
    expect(session.principal).toEqual({
      type: 'person',
      id,
      name: 'Ada',
      email: 'ada@example.org',
      role: 'approver',
    })
    expect(session.organization).toMatchObject({ id: api.org.id })
    expect(session.endpoints).not.toContain('GET /v1/people')
    expect((await api.ok('listPeople')).data).toMatchObject([{ id, status: 'active' }])
    const authorization = browser.visited.find((at) => at.includes('/auth?')) ?? ''
    expect(Object.fromEntries(new URL(authorization).searchParams)).toMatchObject({
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/.{20}/),
      state: expect.stringMatching(/.{20}/),
    })
    const response = await browser.api('DELETE', '/v1/session')
    expect(response.headers.get('location')).toContain(`${provider.issuer}/session/end?`)
    expect((await browser.session()).principal).toBeNull()
    expect(await kinds()).toEqual(['person.invited', 'person.signed_in', 'person.signed_out'])
  })

  it('the subject is the person: a changed address follows, another account does not get in', async () => {
    const { id } = await invite()
    await new LoginBrowser(remit).open('/console/login')
    provider.accounts.set('ada', { ...ADA, email: 'ada.new@example.org' })
    const browser = new LoginBrowser(remit)
    await browser.open('/console/login')
    expect((await browser.session()).principal).toMatchObject({ id, email: 'ada.new@example.org' })

    provider.subject = 'mallory'
    provider.accounts.set('mallory', ADA)
    const thief = new LoginBrowser(remit)
    expect((await thief.open('/console/login')).status).toBe(403)
    expect((await thief.session()).principal).toBeNull()
  })

  it.each([
    ['unverified', { email: ADA.email, email_verified: false }],
    ['unverified as a text', { email: ADA.email, email_verified: 'true' }],
    ['missing', {}],
    ['of somebody else', { email: 'eve@example.org', email_verified: true }],
  ])('an address that is %s is refused', async (_, claims) => {
    await invite()
    provider.accounts.set('ada', claims)
    const browser = new LoginBrowser(remit)
    const { status, text } = await browser.open('/console/login')
    expect([status, text]).toEqual([403, expect.stringContaining('No organization has invited')])
    expect((await browser.session()).principal).toBeNull()
  })

  describe.each(['disable', 'remove', 'role'] as const)('%s', (how) => {
    it('ends the session at once on every process', async () => {
      const { id } = await invite()
      const browser = new LoginBrowser(other)
      await browser.open('/console/login')
      expect((await browser.session()).principal).not.toBeNull()
      const params = { id }
      if (how === 'remove') await api.ok('removePerson', { params })
      else
        await api.ok('changePerson', {
          params,
          body: how === 'role' ? { role: 'read' } : { status: 'disabled' },
        })
      expect((await browser.session()).principal).toBeNull()
      expect((await browser.api('GET', '/v1/scorers')).status).toBe(401)
      const again = await browser.open('/console/login')
      expect(again.status).toBe(how === 'role' ? 404 : 403)
    })
  })

  it('the page that was asked for opens after the sign-in, also after the choice of an organization', async () => {
    await invite()
    const next = '/console/ledger?kind=policy.created'
    const path = `/console/login?next=${encodeURIComponent(next)}`
    const isPage = (url: URL) => url.pathname + url.search === next
    const { url } = await new LoginBrowser(remit).open(path, isPage)
    expect(isPage(url)).toBe(true)
    const second = apiOf(remit, await remit.organization('team'))
    await second.ok('invitePerson', { body: { email: ADA.email, role: 'read' } })
    const browser = new LoginBrowser(remit)
    const [, link = ''] = /<a href="([^"]+)"/.exec((await browser.open(path)).text) ?? []
    expect(isPage((await browser.open(link.replaceAll('&amp;', '&'), isPage)).url)).toBe(true)
  })

  it('where several organizations invite an address, a page asks', async () => {
    await invite()
    const second = apiOf(remit, await remit.organization('team'))
    await second.ok('invitePerson', { body: { email: ADA.email, role: 'read' } })
    const browser = new LoginBrowser(remit)
    const { status, text } = await browser.open('/console/login')
    expect(status).toBe(200)
    expect((await browser.session()).principal).toBeNull()
    const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href ?? '')
    expect(links).toHaveLength(2)
    const link = links.find((href) => href.includes(second.org.id)) ?? ''
    await browser.open(link)
    expect((await browser.session()).organization).toMatchObject({ id: second.org.id })
  })

  describe('a return of the browser that is not its own or not whole', () => {
    /** A sign-in as far as the return. */
    const returning = async (browser: LoginBrowser) =>
      (await browser.open('/console/login', isCallback)).url
    const change = (browser: LoginBrowser, members: object) => {
      const attempt = openAttempt(secrets, browser.attempt, clock.now())
      if (!attempt) throw new Error('the cookie is not that of an attempt')
      browser.attempt = sealAttempt(secrets, { ...attempt, ...members }, clock.now())
    }

    const expectRefused = async (browser: LoginBrowser, url: URL) => {
      const { status, text } = await browser.open(url.href)
      expect([status, text]).toEqual([400, expect.stringContaining('Sign in again')])
      expect((await browser.session()).principal).toBeNull()
    }

    it('a replayed code starts no second session', async () => {
      await invite()
      const browser = new LoginBrowser(remit)
      const url = await returning(browser)
      const { attempt } = browser
      await browser.open(url.href)
      expect((await browser.session()).principal).not.toBeNull()
      await browser.api('DELETE', '/v1/session')
      await expectRefused(browser, url)
      // Somebody who has copied the cookie too.
      browser.attempt = attempt
      await expectRefused(browser, url)
    })

    it('a code that another browser got starts none', async () => {
      await invite()
      const url = await returning(new LoginBrowser(remit))
      await expectRefused(new LoginBrowser(remit), url)
      const attacker = new LoginBrowser(remit)
      const own = await returning(attacker)
      url.searchParams.set('state', own.searchParams.get('state') ?? '')
      await expectRefused(attacker, url)
    })

    it.each(['state', 'iss', 'code'])('a changed %s is refused', async (name) => {
      await invite()
      const browser = new LoginBrowser(remit)
      const url = await returning(browser)
      url.searchParams.set(name, `${url.searchParams.get(name)}x`)
      await expectRefused(browser, url)
    })

    it.each(['state', 'iss', 'code'])('a missing %s is refused', async (name) => {
      await invite()
      const browser = new LoginBrowser(remit)
      const url = await returning(browser)
      url.searchParams.delete(name)
      await expectRefused(browser, url)
    })

    it.each(['nonce', 'verifier'])(
      'an ID token or code for another %s is refused',
      async (name) => {
        await invite()
        const browser = new LoginBrowser(remit)
        const url = await returning(browser)
        change(browser, { [name]: 'x'.repeat(43) })
        await expectRefused(browser, url)
      },
    )

    it.each([
      ['sealed elsewhere', createSecretBox([newKey()]).seal('{}', 'login attempt')],
      ['sealed for another place', secrets.seal('{}', 'webhook')],
      ['not sealed', 'x'],
    ])('a cookie that is %s is refused', async (_, cookie) => {
      await invite()
      const browser = new LoginBrowser(remit)
      const url = await returning(browser)
      browser.attempt = cookie
      await expectRefused(browser, url)
    })

    it('a return after ten minutes is refused', async () => {
      await invite()
      const browser = new LoginBrowser(remit)
      const url = await returning(browser)
      clock.advance(10 * 60 * 1000)
      await expectRefused(browser, url)
    })
  })

  it('refused sign-ins are recorded up to 60 times a minute', async () => {
    const { id } = await invite()
    await api.ok('changePerson', { params: { id }, body: { status: 'disabled' } })
    // A minute of its own.
    clock.advance(60_000)
    for (let i = 0; i < 62; i++)
      expect((await new LoginBrowser(remit).open('/console/login')).status).toBe(403)

    const refused = (await kinds()).filter((kind) => kind === 'person.sign_in_refused')
    expect(refused).toHaveLength(60)
  })

  it('an ID token that the keys of the provider did not sign is refused', async () => {
    await invite()
    const fresh = await createTestRemit({
      url: remit.url,
      signingKey: remit.signingKey,
      modules,
      clock,
      outbound,
      settings: { oidc: settings() },
    })
    provider.foreignKeys = true
    const browser = new LoginBrowser(fresh)
    expect((await browser.open('/console/login')).status).toBe(400)
    provider.foreignKeys = false
    expect((await browser.session()).principal).toBeNull()
    await fresh.close()
  })
})

describe('sign-in with roles of the provider', () => {
  const roleMap = new Map([
    ['staff', 'read'],
    ['admins', 'admin'],
  ] as const)

  it('takes the highest role anew at each sign-in, and nobody else changes it', async () => {
    const remit = await createTestRemit({ modules, outbound })
    const org = await remit.organization('team')
    const settingsOf = { oidc: settings({ roleMap, organization: org.id }) }
    const mapped = await createTestRemit({
      url: remit.url,
      signingKey: remit.signingKey,
      modules,
      outbound,
      settings: settingsOf,
    })
    const api = apiOf(mapped, org)
    provider.accounts.set('ada', { ...ADA, groups: ['staff', 'admins', 'x'] })
    const browser = new LoginBrowser(mapped)
    await browser.open('/console/login')
    const { principal } = await browser.session()
    expect(principal).toMatchObject({ role: 'admin' })
    const params = { id: principal?.id ?? '' }
    const refused = await api.refusal('changePerson', { params, body: { role: 'read' } })
    expect(refused.code).toBe('role_managed')

    provider.accounts.set('ada', { ...ADA, groups: ['staff'] })
    const later = new LoginBrowser(mapped)
    await later.open('/console/login')
    expect((await later.session()).principal).toMatchObject({ id: principal?.id, role: 'read' })
    expect((await browser.session()).principal).toBeNull()

    provider.accounts.set('ada', { ...ADA, groups: 'none' })
    const nobody = new LoginBrowser(mapped)
    expect((await nobody.open('/console/login')).status).toBe(403)
    expect((await later.session()).principal).toBeNull()
    const last = (await entriesOf(mapped, org.id)).at(-1)
    expect(last?.kind).toBe('person.sign_in_refused')
    expect(last?.payload).toContain(ADA.email)
    await mapped.close()
    await remit.close()
  })
})

describe('without single sign-on', () => {
  it('the pages say so', async () => {
    const remit = await createTestRemit({ modules })
    for (const path of ['/console/login', '/console/callback?code=x']) {
      const response = await remit.app.request(path)
      expect([response.status, await response.text()]).toEqual([
        404,
        expect.stringContaining('Single sign-on is not set up'),
      ])
    }
    await remit.close()
  })
})
