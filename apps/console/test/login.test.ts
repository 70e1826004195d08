import { startLoginProvider } from '@remit/core/testing'
import type { LoginProvider } from '@remit/core/testing'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { canRun, openBrowser, openTab, startSession } from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { oidcEnv, returnOf } from './support/oidc.ts'
import { createInstallation } from './support/server.ts'
import type { Installation, Server } from './support/server.ts'

const ADA = { email: 'ada@example.org', email_verified: true, name: 'Ada', groups: ['staff'] }
const BOB = { email: 'bob@example.org', email_verified: true, name: 'Bob', groups: ['approvers'] }

/** A provider knows redirect addresses by name, and cookies belong to one. */
const byName = (server: Server): Server => ({
  ...server,
  url: server.url.replace('127.0.0.1', 'localhost'),
})

/** Two processes of one installation: on the second, groups of the provider decide about roles. */
describe.skipIf(!canRun)('people, with an OpenID provider, in Chromium', () => {
  let provider: LoginProvider
  let other: LoginProvider
  let installation: Installation
  let invited: Server
  let mapped: Server
  let browser: Browser
  beforeAll(async () => {
    ;[provider, other, installation, browser] = await Promise.all([
      startLoginProvider(),
      startLoginProvider(),
      createInstallation('postgres'),
      openBrowser(),
    ])
    const env = oidcEnv(installation, provider)
    invited = byName(await installation.start(env))
    const roles = {
      REMIT_OIDC_ROLE_MAP: 'admins=admin,approvers=approver,staff=read',
      REMIT_OIDC_ORGANIZATION: 'demo',
    }
    mapped = byName(await installation.start({ ...env, ...roles }))
    await provider.register([invited.url, mapped.url])
  })
  afterAll(async () => {
    await browser?.close()
    await installation?.remove()
    await provider?.close()
    await other?.close()
  })
  beforeEach(() => {
    provider.subject = 'ada'
    provider.accounts.set('ada', ADA).set('bob', BOB)
  })

  const hostOf = (url: string) => new URL(url).host
  const openAt = (server: Server): Promise<Tab> =>
    openTab(browser, server, { hosts: [hostOf(provider.issuer)] })
  const navigation = (page: Page) => page.getByRole('navigation', { name: 'Pages' })
  const signIn = async ({ page }: Tab, path = '/console/') => {
    await page.goto(path)
    await page.getByRole('link', { name: `Sign in with ${hostOf(provider.issuer)}` }).click()
    await navigation(page).waitFor()
  }
  /** The session's cookie of a browser. */
  const sessionOf = async (context: BrowserContext) =>
    (await context.cookies()).find(({ name }) => name.startsWith('remit_session'))?.value
  const who = (page: Page) => page.getByRole('group', { name: 'Signed in as' }).innerText()

  test('a sign-in leads to the page that was asked for, with the role of the group; the next one has its new role', async () => {
    const tab = await openAt(mapped)
    const { page, context, complaints } = tab
    await signIn(tab, '/console/ledger?kind=policy.created')
    expect(page.url()).toBe(`${mapped.url}/console/ledger?kind=policy.created`)
    expect(await who(page)).toBe('ada@example.org\nread')

    provider.accounts.set('ada', { ...ADA, groups: ['staff', 'admins'] })
    await context.clearCookies({ name: /^remit_session/ })
    await signIn(tab)
    expect(await who(page)).toBe('ada@example.org\nadmin')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('sign-out ends the session here and at the provider', async () => {
    const tab = await openAt(mapped)
    const { page, context } = tab
    await signIn(tab)
    const cookie = (await sessionOf(context)) ?? ''
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${provider.issuer}/session/end**`)
    await page.getByRole('button', { name: 'Yes, sign me out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()
    expect(await principalOf(mapped, cookie)).toBeNull()

    provider.subject = 'bob'
    await signIn(tab)
    expect(await who(page)).toBe('bob@example.org\napprover')
    await context.close()
  })

  test('after a sign-out that the provider does not offer, it asks again who it is', async () => {
    const tab = await openAt(mapped)
    const { page, context } = tab
    await signIn(tab)
    await page.route('**/v1/session', async (route) => {
      const response = await route.fetch()
      const { location: _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()
    await page.reload()
    const asked = page.waitForRequest((request) => request.url().includes('code_challenge='))
    await page.getByRole('link', { name: /^Sign in with/ }).click()
    expect(new URL((await asked).url()).searchParams.get('prompt')).toBe('login')
    await navigation(page).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await context.close()
  })

  test('a person whose groups are removed is refused at the next sign-in, which ends the older sessions', async () => {
    const older = await openAt(mapped)
    await signIn(older)
    provider.accounts.set('ada', { ...ADA, groups: [] })
    const { page, context } = await openAt(mapped)
    await page.goto('/console/login')
    await page.getByText('Sign-in was refused: no group of the person has a role.').waitFor()
    expect(await sessionOf(context)).toBeUndefined()

    await older.page.getByRole('link', { name: 'Policies' }).click()
    await older.page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()
    await Promise.all([older.context.close(), context.close()])
  })

  test('an address that the provider has not verified signs nobody in', async () => {
    await invited.api.invitePerson({ body: { email: 'eve@example.org', role: 'admin' } })
    provider.subject = 'eve'
    provider.accounts.set('eve', { email: 'eve@example.org', email_verified: false })
    const { page, context } = await openAt(invited)
    await page.goto('/console/login')
    await page.getByText('No organization has invited this account.').waitFor()

    expect(await sessionOf(context)).toBeUndefined()
    await context.close()
  })

  describe('an attack on the return from the provider', () => {
    let victim: Tab
    beforeAll(async () => {
      victim = await openAt(mapped)
    })
    afterAll(() => victim.context.close())
    beforeEach(async () => {
      await victim.page.goto('about:blank')
      await victim.context.clearCookies()
      victim.complaints.splice(0)
    })

    const expectRefused = async (url: URL) => {
      const response = await victim.page.goto(url.href)
      expect([response?.status(), await victim.page.locator('body').innerText()]).toEqual([
        400,
        expect.stringContaining('Sign in again'),
      ])
      expect(await sessionOf(victim.context)).toBeUndefined()
    }

    test('the same steps without an attack sign in', async () => {
      const url = await returnOf(victim.context.request, mapped.url)
      await victim.page.goto(url.href)
      await navigation(victim.page).waitFor()
      expect(await sessionOf(victim.context)).toHaveLength(43)
    })

    test.each([
      ['another state', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
      ['no state', (url: URL) => url.searchParams.delete('state')],
      ['another code', (url: URL) => url.searchParams.set('code', 'x'.repeat(43))],
      ['the issuer of another provider', (url: URL) => url.searchParams.set('iss', other.issuer)],
      ['no issuer', (url: URL) => url.searchParams.delete('iss')],
      ['an error beside the code', (url: URL) => url.searchParams.set('error', 'access_denied')],
    ])('with %s is refused', async (_, change) => {
      const url = await returnOf(victim.context.request, mapped.url)
      change(url)
      await expectRefused(url)
    })

    test.each([
      ['nonce', 'x'.repeat(43)],
      ['code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
    ])('that changes the %s of the request is refused', async (name, value) => {
      await expectRefused(
        await returnOf(victim.context.request, mapped.url, (authorization) =>
          authorization.searchParams.set(name, value),
        ),
      )
    })

    test('with the code of another browser is refused, also under the state of this one', async () => {
      const attacker = await browser.newContext()
      await expectRefused(await returnOf(attacker.request, mapped.url))
      const injected = await returnOf(attacker.request, mapped.url)
      const own = await returnOf(victim.context.request, mapped.url)
      injected.searchParams.set('state', own.searchParams.get('state') ?? '')
      await expectRefused(injected)
      await attacker.close()
    })

    test('that replays a code is refused, in this browser and with its cookies', async () => {
      const url = await returnOf(victim.context.request, mapped.url)
      const copied = await victim.context.cookies()
      await victim.page.goto(url.href)
      await navigation(victim.page).waitFor()
      await victim.context.clearCookies()
      await victim.context.addCookies(copied)
      await expectRefused(url)
    })

    test('with the session of somebody else in the browser does not sign in to that session', async () => {
      const attacker = await openAt(mapped)
      await startSession(attacker, mapped, mapped.key)
      const planted = await attacker.context.cookies()
      await victim.context.addCookies(planted)
      const url = await returnOf(victim.context.request, mapped.url)
      await victim.page.goto(url.href)
      await navigation(victim.page).waitFor()

      expect(await who(victim.page)).toBe('ada@example.org\nread')
      expect(await sessionOf(victim.context)).not.toBe(planted[0]?.value)
      await attacker.page.goto('/console/')
      expect(await who(attacker.page)).toMatch(/admin$/)
      await attacker.context.close()
    })

    test.each([
      'https://evil.test/console',
      '//evil.test/console',
      '/\\evil.test/console',
      'javascript:alert(1)',
      '/console/../v1/session',
    ])('that wants to lead to %s ends on the start page', async (next) => {
      await victim.page.goto(`/console/login?next=${encodeURIComponent(next)}`)
      await navigation(victim.page).waitFor()

      expect(victim.page.url()).toBe(`${mapped.url}/console`)
      expect(victim.complaints).toEqual([])
    })
  })

  test('a person is invited, gets another role and is disabled in one process; the next click in another shows it', async () => {
    const admin = await openAt(invited)
    await startSession(admin, invited, invited.key)
    await admin.page.goto('/console/settings?tab=people')
    await admin.page.getByLabel('E-mail address').fill('Carol@example.org')
    await admin.page.getByRole('button', { name: 'Invite a person' }).click()
    const row = admin.page.getByRole('row', { name: /carol@example\.org/i })
    await row.getByText('invited', { exact: true }).waitFor()

    provider.subject = 'carol'
    provider.accounts.set('carol', { ...ADA, email: 'carol@example.org', name: 'Carol' })
    const carol = await openAt(mapped)
    const isOut = () => carol.page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()
    await signIn(carol)
    expect(await who(carol.page)).toBe('carol@example.org\nread')
    await admin.page.reload()
    await row.getByText('active', { exact: true }).waitFor()

    const changed = admin.page.waitForResponse((one) => one.request().method() === 'PATCH')
    await row.getByLabel(/^Role/).selectOption('approver')
    expect((await changed).status()).toBe(200)
    await navigation(carol.page).getByRole('link', { name: 'Ledger' }).click()
    await isOut()

    await signIn(carol)
    await row.getByRole('button', { name: /^Disable/ }).click()
    await row.getByText('disabled', { exact: true }).waitFor()
    await navigation(carol.page).getByRole('link', { name: 'Policies' }).click()
    await isOut()
    await carol.page.goto('/console/login')
    await carol.page.getByText('Sign-in was refused: the person is disabled.').waitFor()
    await Promise.all([admin.context.close(), carol.context.close()])
  })
})

/** The principal of a copied cookie. */
async function principalOf({ url }: Server, value: string): Promise<unknown> {
  const { port } = new URL(url)
  const headers = { cookie: `remit_session_${port}=${value}` }
  const response = await fetch(`${url}/v1/session`, { headers })
  return ((await response.json()) as { principal: unknown }).principal
}
