import { LOGIN_CLIENT, sampled, startLoginProvider } from '@remit/testing'
import type { LoginProvider } from '@remit/testing'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  canRunAll,
  openBrowser,
  openTab,
  renew,
  startSession,
  violationsOf,
} from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { byName, oidcEnv, returnOf } from './support/oidc.ts'
import { createInstallation } from './support/server.ts'
import type { Installation, Server } from './support/server.ts'

const ADA = { email: 'ada@example.org', email_verified: true, name: 'Ada', groups: ['staff'] }
const BOB = { email: 'bob@example.org', email_verified: true, name: 'Bob', groups: ['approvers'] }

/** Two processes of one installation: on the second, groups of the provider decide about roles. */
describe.skipIf(!canRunAll)('people, with an OpenID provider, in Chromium', () => {
  let provider: LoginProvider
  let other: LoginProvider
  let installation: Installation
  let invited: Server
  let mapped: Server
  let browser: Browser
  /** Tabs of the second process, by two people or a person and an attacker. */
  let mine: Tab
  let theirs: Tab
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
    const hosts = [provider.issuer, other.issuer, invited.url].map(hostOf)
    ;[mine, theirs] = await Promise.all([
      openTab(browser, mapped, { hosts }),
      openTab(browser, mapped, { hosts }),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await installation?.remove()
    await provider?.close()
    await other?.close()
  })
  beforeEach(async () => {
    provider.subject = 'ada'
    provider.accounts.set('ada', ADA).set('bob', BOB)
    await Promise.all([renew(mine), renew(theirs)])
  })

  const hostOf = (url: string) => new URL(url).host
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
    const { page, context, complaints } = mine
    await signIn(mine, '/console/ledger?kind=policy.created')
    expect(page.url()).toBe(`${mapped.url}/console/ledger?kind=policy.created`)
    expect(await who(page)).toBe('ada@example.org\nread')

    provider.accounts.set('ada', { ...ADA, groups: ['staff', 'admins'] })
    await context.clearCookies({ name: /^remit_session/ })
    await signIn(mine)
    expect(await who(page)).toBe('ada@example.org\nadmin')
    expect(complaints).toEqual([])
  })

  test('sign-out ends the session here and at the provider', async () => {
    const { page, context } = mine
    await signIn(mine)
    const cookie = (await sessionOf(context)) ?? ''
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${provider.issuer}/session/end**`)
    await page.getByRole('button', { name: 'Yes, sign me out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()
    expect(await principalOf(mapped, cookie)).toBeNull()

    provider.subject = 'bob'
    await signIn(mine)
    expect(await who(page)).toBe('bob@example.org\napprover')
  })

  test('after a sign-out that the provider does not offer, it asks again who it is', async () => {
    const { page } = mine
    await signIn(mine)
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
  })

  test('a person whose groups are removed is refused at the next sign-in, which ends the older sessions', async () => {
    await signIn(theirs)
    provider.accounts.set('ada', { ...ADA, groups: [] })
    const { page, context } = mine
    await page.goto('/console/login')
    await page.getByText('Sign-in was refused: no group of the person has a role.').waitFor()
    expect(await sessionOf(context)).toBeUndefined()

    await navigation(theirs.page).getByRole('link', { name: 'Policies' }).click()
    await theirs.page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()
  })

  test('an address that the provider has not verified signs nobody in', async () => {
    await invited.api.invitePerson({ body: { email: 'eve@example.org', role: 'admin' } })
    provider.subject = 'eve'
    provider.accounts.set('eve', { email: 'eve@example.org', email_verified: false })
    const { page, context } = mine
    await page.goto(`${invited.url}/console/login`)
    await page.getByText('No organization has invited this account.').waitFor()

    expect(await sessionOf(context)).toBeUndefined()
  })

  describe('an attack on the return from the provider', () => {
    const expectRefused = async (url: URL) => {
      const response = await mine.page.goto(url.href)
      expect([response?.status(), await mine.page.locator('body').innerText()]).toEqual([
        400,
        expect.stringContaining('Sign in again'),
      ])
      expect(await sessionOf(mine.context)).toBeUndefined()
    }

    test('the same steps without an attack sign in', async () => {
      const url = await returnOf(mine.context.request, mapped.url)
      await mine.page.goto(url.href)
      await navigation(mine.page).waitFor()
      expect(await sessionOf(mine.context)).toMatch(/^[\w-]{43}\.org_\w+$/)
    })

    type Change = (url: URL) => void
    const changes: readonly (readonly [name: string, change: Change])[] = [
      ['another state', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
      ['no state', (url: URL) => url.searchParams.delete('state')],
      ['another code', (url: URL) => url.searchParams.set('code', 'x'.repeat(43))],
      ['the issuer of another provider', (url: URL) => url.searchParams.set('iss', other.issuer)],
      ['no issuer', (url: URL) => url.searchParams.delete('iss')],
      ['an error beside the code', (url: URL) => url.searchParams.set('error', 'access_denied')],
    ]
    test.each(sampled(changes, 3, 1))('with %s is refused', async (_, change) => {
      const url = await returnOf(mine.context.request, mapped.url)
      change(url)
      await expectRefused(url)
    })

    test.each([
      ['nonce', 'x'.repeat(43)],
      ['code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
    ])('that changes the %s of the request is refused', async (name, value) => {
      await expectRefused(
        await returnOf(mine.context.request, mapped.url, (authorization) =>
          authorization.searchParams.set(name, value),
        ),
      )
    })

    test('with the code of another browser is refused, also under the state of this one', async () => {
      const attacker = theirs.context.request
      await expectRefused(await returnOf(attacker, mapped.url))
      const injected = await returnOf(attacker, mapped.url)
      const own = await returnOf(mine.context.request, mapped.url)
      injected.searchParams.set('state', own.searchParams.get('state') ?? '')
      await expectRefused(injected)
    })

    test('that replays a code is refused, in this browser and with its cookies', async () => {
      const url = await returnOf(mine.context.request, mapped.url)
      const copied = await mine.context.cookies()
      await mine.page.goto(url.href)
      await navigation(mine.page).waitFor()
      await mine.context.clearCookies()
      await mine.context.addCookies(copied)
      await expectRefused(url)
    })

    test('with the session of somebody else in the browser does not sign in to that session', async () => {
      await startSession(theirs, mapped, mapped.key)
      const planted = await theirs.context.cookies()
      await mine.context.addCookies(planted)
      const url = await returnOf(mine.context.request, mapped.url)
      await mine.page.goto(url.href)
      await navigation(mine.page).waitFor()

      expect(await who(mine.page)).toBe('ada@example.org\nread')
      expect(await sessionOf(mine.context)).not.toBe(planted[0]?.value)
      await theirs.page.goto('/console/')
      expect(await who(theirs.page)).toMatch(/admin$/)
    })

    const elsewhere = [
      'https://evil.test/console',
      '//evil.test/console',
      '/\\evil.test/console',
      'javascript:alert(1)',
      '/console/../v1/session',
    ]
    test.each(sampled(elsewhere, 3, 1))(
      'that wants to lead to %s ends on the start page',
      async (next) => {
        await mine.page.goto(`/console/login?next=${encodeURIComponent(next)}`)
        await navigation(mine.page).waitFor()

        expect(mine.page.url()).toBe(`${mapped.url}/console`)
        expect(mine.complaints).toEqual([])
      },
    )
  })

  test('a person is invited, gets another role and is disabled in one process; the next click in another shows it', async () => {
    const { page: admin } = theirs
    await startSession(theirs, invited, invited.key)
    await admin.goto(`${invited.url}/console/settings?tab=people`)
    await admin.getByLabel('E-mail address').fill('Carol@example.org')
    await admin.getByRole('button', { name: 'Invite a person' }).click()
    const row = admin.getByRole('row', { name: /carol@example\.org/i })
    await row.getByText('invited', { exact: true }).waitFor()

    provider.subject = 'carol'
    provider.accounts.set('carol', { ...ADA, email: 'carol@example.org', name: 'Carol' })
    const { page: carol } = mine
    const isOut = () => carol.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()
    await signIn(mine)
    expect(await who(carol)).toBe('carol@example.org\nread')
    await admin.reload()
    await row.getByText('active', { exact: true }).waitFor()

    const changed = admin.waitForResponse((one) => one.request().method() === 'PATCH')
    await row.getByLabel(/^Role/).selectOption('approver')
    expect((await changed).status()).toBe(200)
    await navigation(carol).getByRole('link', { name: 'Ledger' }).click()
    await isOut()

    await signIn(mine)
    await row.getByRole('button', { name: /^Disable/ }).click()
    await admin.getByRole('dialog').getByRole('button', { name: 'Disable', exact: true }).click()
    await row.getByText('disabled', { exact: true }).waitFor()
    await navigation(carol).getByRole('link', { name: 'Policies' }).click()
    await isOut()
    await carol.goto('/console/login')
    await carol.getByText('Sign-in was refused: the person is disabled.').waitFor()
  })

  test('an administrator sets the provider of the organization in the form; its people sign in there alone', async () => {
    const { id } = (await invited.api.getSession()).organization ?? { id: '' }
    await other.register([invited.url], [id])
    other.subject = 'dora'
    other.accounts.set('dora', { ...ADA, email: 'dora@example.org', groups: ['ops'] })
    const { page: admin } = theirs
    await startSession(theirs, invited, invited.key)
    await admin.goto(`${invited.url}/console/settings?tab=login`)
    const field = (name: string) => admin.getByLabel(name, { exact: true })
    await field('Issuer').fill(`${other.issuer}/nothing`)
    await field('Client id').fill(LOGIN_CLIENT.clientId)
    await field('Client secret').fill(LOGIN_CLIENT.clientSecret)
    await field('Roles by group').fill('ops=approver')
    await admin.getByRole('button', { name: 'Save the provider' }).click()
    await admin.getByText('its metadata cannot be read').first().waitFor()
    expect(await violationsOf(admin)).toEqual([])
    await field('Issuer').fill(other.issuer)
    await admin.getByRole('button', { name: 'Save the provider' }).click()
    await admin.getByText('A secret is stored.').waitFor()
    expect(await field('Client secret').inputValue()).toBe('')

    const { page, complaints } = mine
    await page.goto(`${invited.url}/console/ledger`)
    await page.getByLabel('Organization or e-mail address').fill('demo')
    await page.getByRole('button', { name: 'Continue to your organization' }).click()
    await navigation(page).waitFor()
    expect(await who(page)).toBe('dora@example.org\napprover')
    expect(page.url()).toBe(`${invited.url}/console/ledger`)
    expect(complaints).toEqual([])
    await invited.api.removeLoginProvider()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()
  })
})

/** The principal of a copied cookie. */
async function principalOf({ url }: Server, value: string): Promise<unknown> {
  const { port } = new URL(url)
  const headers = { cookie: `remit_session_${port}=${value}` }
  const response = await fetch(`${url}/v1/session`, { headers })
  return ((await response.json()) as { principal: unknown }).principal
}
