import { on } from '@remit/core/db'
import { createOutbound } from '@remit/core/net'
import {
  LOGIN_CLIENT,
  oidcSettings,
  apiOf,
  createTestRemit,
  someDialects,
  startLoginProvider,
  LOGIN_BASE as BASE,
  LoginBrowser,
} from '@remit/testing'
import type { Api, LoginProvider, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openSecret } from '../src/login/own/store.ts'
import type { Tables } from '../src/tables/schema.ts'
import { modules } from './support/api.ts'

const ADA = { email: 'ada@a.example', email_verified: true, name: 'Ada' }

/** The providers of organization A, of organization B and of the server. */
let ofA: LoginProvider
let ofB: LoginProvider
let ofServer: LoginProvider
beforeAll(async () => {
  ;[ofA, ofB, ofServer] = await Promise.all([
    startLoginProvider(),
    startLoginProvider(),
    startLoginProvider([BASE]),
  ])
})
afterAll(() => Promise.all([ofA, ofB, ofServer].map((provider) => provider.close())))

const texts = new Map<string, string[]>()
const outbound = createOutbound({
  allowLoopback: true,
  resolveText: (name) => Promise.resolve(texts.get(name) ?? []),
})
const oidc = () => oidcSettings(ofServer)

describe.each(someDialects())('the provider of an organization on %s', (dialect) => {
  let remit: TestRemit
  let a: Api
  let b: Api
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, modules, outbound, settings: { oidc: oidc() } })
  })
  afterAll(() => remit.close())
  beforeEach(async () => {
    await on<Tables>(remit.db).deleteFrom('person').execute()
    await on<Tables>(remit.db).deleteFrom('person_address').execute()
    a = apiOf(remit, await remit.organization('team'))
    b = apiOf(remit, await remit.organization('team'))
    await ofA.register([BASE], [a.org.id])
    await ofB.register([BASE], [b.org.id])
    for (const provider of [ofA, ofB, ofServer]) {
      provider.accounts.clear()
      provider.subject = 'ada'
      provider.accounts.set('ada', ADA)
    }
    texts.clear()
  })

  const set = (api: Api, provider: LoginProvider, more: object = {}) =>
    api.ok('setLoginProvider', {
      body: {
        issuer: provider.issuer,
        client_id: LOGIN_CLIENT.clientId,
        client_secret: LOGIN_CLIENT.clientSecret,
        ...more,
      },
    })
  const invite = (api: Api, more: object = {}) =>
    api.ok('invitePerson', { body: { email: ADA.email, role: 'approver', ...more } })
  const loginAt = (api: Api) => `/console/login?organization=${api.org.id}`
  const signedIn = async (path: string) => {
    const browser = new LoginBrowser(remit)
    await browser.open(path, (url) => url.pathname === '/console')
    return { browser, session: await browser.session() }
  }
  const expectRefused = async (path: string, status: number, text: string) => {
    const browser = new LoginBrowser(remit)
    const page = await browser.open(path)
    expect([page.status, page.text]).toEqual([status, expect.stringContaining(text)])
    expect((await browser.session()).principal).toBeNull()
  }
  const isReturn = (url: URL) => url.pathname.startsWith('/console/callback')

  it('signs its people in, by organization or by proven domain', async () => {
    texts.set('_remit-login.a.example', ['v=spf1', `remit-organization=${a.org.id}`])
    const stored = await set(a, ofA, { domains: ['a.example', 'b.example'] })
    expect(stored.domains).toEqual([
      { domain: 'a.example', verified: true },
      { domain: 'b.example', verified: false },
    ])
    expect(stored.redirect_uri).toBe(`${BASE}/console/callback/${a.org.id}`)
    const { id } = await invite(a)
    for (const path of [loginAt(a), '/console/login?organization=ada%40A.example']) {
      const { browser, session } = await signedIn(path)
      expect(session.principal).toMatchObject({ id, role: 'approver' })
      expect(session.organization).toMatchObject({ id: a.org.id })
      const response = await browser.api('DELETE', '/v1/session')
      expect(response.headers.get('location')).toContain(`${ofA.issuer}/session/end?`)
    }
    // A domain without proof leads to the provider of the server.
    const { url } = await new LoginBrowser(remit).open(
      '/console/login?organization=ada%40b.example',
      ({ origin }) => origin !== BASE,
    )
    expect(url.origin).toBe(ofServer.issuer)
  })

  it('is stored with an encrypted secret, which no answer and no entry has', async () => {
    const stored = await set(a, ofA)
    const row = await on<Tables>(remit.db)
      .selectFrom('login_provider')
      .selectAll()
      .where('org_id', '=', a.org.id)
      .executeTakeFirstOrThrow()
    expect(row.secret).toMatch(/^enc1\./)
    const recorded = await remit.db
      .selectFrom('ledger_entry')
      .select('payload')
      .where('org_id', '=', a.org.id)
      .where('kind', '=', 'login_provider.set')
      .execute()
    expect(recorded).toHaveLength(1)
    const shown = JSON.stringify([await a.ok('getLoginProvider'), stored, recorded])
    expect(shown).toContain('"has_client_secret":true')
    for (const secret of [LOGIN_CLIENT.clientSecret, row.secret ?? ''])
      expect(shown).not.toContain(secret)
    // Another row must not be able to use it.
    const box = { seal: () => '', isCurrent: () => true, open: (_: string, place: string) => place }
    expect(openSecret(box, { org_id: 'x', secret: 'y' })).toBe('login_provider/x/secret')
  })

  it('keeps its secret for its own issuer only', async () => {
    await set(a, ofA)
    expect(await set(a, ofA, { client_secret: undefined })).toMatchObject({
      has_client_secret: true,
    })
    await invite(a)
    expect((await signedIn(loginAt(a))).session.principal).not.toBeNull()
    const body = { issuer: ofB.issuer, client_id: LOGIN_CLIENT.clientId }
    const problem = await a.refusal('setLoginProvider', { body })
    expect(problem.errors).toMatchObject([{ path: 'client_secret' }])
  })

  it('whose secret no key decrypts says so, and can be set again', async () => {
    await set(a, ofA)
    await invite(a)
    const onTheWay = new LoginBrowser(remit)
    const back = (await onTheWay.open(loginAt(a), isReturn)).url.href
    await on<Tables>(remit.db)
      .updateTable('login_provider')
      // A cached provider still has the secret.
      .set({ id: 'lgp_restored', secret: `enc1.00000000.${'A'.repeat(40)}` })
      .where('org_id', '=', a.org.id)
      .execute()

    for (const [browser, path] of [
      [onTheWay, back],
      [new LoginBrowser(remit), loginAt(a)],
    ] as const) {
      const { status, text } = await browser.open(path)
      expect([status, text]).toEqual([503, expect.stringContaining('cannot decrypt')])
    }
    const body = { issuer: ofA.issuer, client_id: LOGIN_CLIENT.clientId }
    const { errors } = await a.refusal('setLoginProvider', { body })
    const message = 'must be given: the stored one cannot be decrypted'
    expect(errors).toEqual([{ path: 'client_secret', message }])
    await set(a, ofA)
    expect((await signedIn(loginAt(a))).session.principal).not.toBeNull()
  })

  it('gives the roles of its groups to people of its domains, without an invitation', async () => {
    const role_map = [
      { group: 'staff', role: 'read' },
      { group: 'boss', role: 'admin' },
    ]
    await set(a, ofA, { role_map, domains: ['a.example'] })
    ofA.accounts.set('ada', { ...ADA, groups: ['boss', 'staff'] })
    const { session } = await signedIn(loginAt(a))
    expect(session.principal).toMatchObject({ role: 'admin', email: ADA.email })
    const problem = await a.refusal('changePerson', {
      params: { id: session.principal?.id ?? '' },
      body: { role: 'read' },
    })
    expect(problem.code).toBe('role_managed')
    ofA.accounts.set('ada', { ...ADA, groups: ['boss'], email: 'ada@b.example' })
    await expectRefused(loginAt(a), 403, 'no addresses of this domain')
    ofA.accounts.set('ada', { groups: ['boss'] })
    await expectRefused(loginAt(a), 403, 'has not verified an e-mail address')
  })

  describe('a sign-in through the provider of another organization', () => {
    beforeEach(async () => {
      await set(a, ofA)
      await set(b, ofB)
    })

    it('gives no session, whatever address the provider vouches for', async () => {
      await invite(a, { role: 'admin' })
      await expectRefused(loginAt(b), 403, 'the person is not invited')
      const { session } = await signedIn(loginAt(a))
      expect(session.organization).toMatchObject({ id: a.org.id })
      // The subject of a known person, too, means nothing at another issuer.
      await expectRefused(loginAt(b), 403, 'the person is not invited')
      // The address is invited by both: B signs in to B alone.
      await invite(b, { role: 'read' })
      const inB = (await signedIn(loginAt(b))).session
      expect(inB).toMatchObject({
        organization: { id: b.org.id },
        principal: { role: 'read' },
      })
    })

    it('cannot finish on the page of A, or with a code of A', async () => {
      await invite(a)
      await invite(b)
      const victim = new LoginBrowser(remit)
      const atB = (await victim.open(loginAt(b), ({ pathname }) => pathname === '/auth')).url
      // B sends the browser on to A, under the state of the sign-in at B.
      const mixed = new URL(`${ofA.issuer}/auth${atB.search}`)
      mixed.searchParams.set('redirect_uri', `${BASE}/console/callback/${a.org.id}`)
      const back = (await victim.open(mixed.href, isReturn)).url
      expect(back.pathname).toBe(`/console/callback/${a.org.id}`)
      expect((await victim.open(back.href)).status).toBe(400)
      expect((await victim.session()).principal).toBeNull()

      // A does not send a code to the page of B.
      const other = new LoginBrowser(remit)
      const again = (await other.open(loginAt(b), ({ pathname }) => pathname === '/auth')).url
      const toB = new URL(`${ofA.issuer}/auth${again.search}`)
      const stopped = await other.open(toB.href, isReturn)
      expect([stopped.url.origin, stopped.status]).toEqual([ofA.issuer, 400])
    })

    it('is refused when the answer names another issuer (RFC 9207), page or attempt', async () => {
      await invite(a)
      const browser = new LoginBrowser(remit)
      const back = (await browser.open(loginAt(a), isReturn)).url
      const mine = browser.attempt
      for (const change of [
        (url: URL) => url.searchParams.set('iss', ofB.issuer),
        (url: URL) => url.searchParams.delete('iss'),
        (url: URL) => (url.pathname = `/console/callback/${b.org.id}`),
        (url: URL) => (url.pathname = '/console/callback'),
      ]) {
        const url = new URL(back)
        change(url)
        browser.attempt = mine
        expect((await browser.open(url.href)).status).toBe(400)
      }
      const atB = new LoginBrowser(remit)
      await atB.open(loginAt(b), isReturn)
      browser.attempt = atB.attempt
      expect((await browser.open(back.href)).status).toBe(400)
      expect((await browser.session()).principal).toBeNull()
      browser.attempt = mine
      await browser.open(back.href)
      expect((await browser.session()).organization).toMatchObject({ id: a.org.id })
    })

    it('of the server is refused too', async () => {
      await invite(a)
      await expectRefused('/console/login', 403, 'the organization signs in with another provider')
    })
  })

  it('a change of the provider ends the sign-ins on their way, the sessions and the identities', async () => {
    const { id } = await invite(a)
    const { browser } = await signedIn('/console/login')
    const late = new LoginBrowser(remit)
    const back = (await late.open('/console/login', isReturn)).url
    await set(a, ofA)
    expect((await browser.session()).principal).toBeNull()
    expect((await late.open(back.href)).status).toBe(403)

    const later = new LoginBrowser(remit)
    const atA = (await later.open(loginAt(a), isReturn)).url
    // The person is the same, found by the address.
    expect((await signedIn(loginAt(a))).session.principal).toMatchObject({ id })
    await set(a, ofA, { scopes: 'openid email' })
    expect((await later.open(atA.href)).status).toBe(400)

    await a.ok('removeLoginProvider')
    expect((await a.refusal('getLoginProvider')).code).toBe('login_provider_not_found')
    expect((await signedIn('/console/login')).session.principal).toMatchObject({ id })
  })

  it('a former address finds nobody after a change of the provider', async () => {
    await invite(a)
    await signedIn('/console/login')
    ofServer.accounts.set('ada', { ...ADA, email: 'ada.new@a.example' })
    await signedIn('/console/login')
    await set(a, ofA)
    await expectRefused(loginAt(a), 403, 'the person is not invited')
  })

  it('another organization sees and changes nothing of it', async () => {
    await set(a, ofA)
    expect((await b.refusal('getLoginProvider')).code).toBe('login_provider_not_found')
    expect((await b.refusal('removeLoginProvider')).code).toBe('login_provider_not_found')
    const free = apiOf(remit, await remit.organization('free'))
    expect((await free.refusal('getLoginProvider')).code).toBe('plan_required')
    const key = await remit.key(a.org.id, 'approver')
    expect((await a.refusal('removeLoginProvider', { key })).code).toBe('role_required')
  })

  it('the sign-in page knows of it, and unknown organizations have none', async () => {
    await set(a, ofA)
    const session = (await (await remit.call('GET', '/v1/session')).json()) as object
    expect(session).toMatchObject({ login: { organizations: true } })
    const plain = await createTestRemit({
      url: remit.url,
      signingKey: remit.signingKey,
      modules,
      outbound,
    })
    const page = await plain.app.request('/console/login?organization=nobody')
    expect([page.status, await page.text()]).toEqual([
      404,
      expect.stringContaining('No organization with this name or domain'),
    ])
    await plain.close()
  })
})
