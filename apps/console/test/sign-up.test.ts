import { startLoginProvider } from '@remit/testing'
import type { LoginProvider } from '@remit/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { canRunAll, openBrowser, openTab, renew, settled, violationsOf } from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { byName, oidcEnv } from './support/oidc.ts'
import { startOtherOrigin } from './support/other-origin.ts'
import type { OtherOrigin } from './support/other-origin.ts'
import { createInstallation } from './support/server.ts'
import type { Installation, Server } from './support/server.ts'

const KEY = /rmk_[0-9A-Za-z]{65}/
/** The page of a refusal has a status of its own, which Chromium reports as an error. */
const REFUSED = 'Failed to load resource: the server responded with a status of 403 (Forbidden)'

describe.skipIf(!canRunAll)('sign-up, with an OpenID provider, in Chromium', () => {
  let provider: LoginProvider
  let installation: Installation
  let other: OtherOrigin
  let server: Server
  let browser: Browser
  let tab: Tab
  let page: Page
  let count = 0
  let email = ''
  beforeAll(async () => {
    ;[provider, installation, other, browser] = await Promise.all([
      startLoginProvider(),
      createInstallation('postgres'),
      startOtherOrigin(),
      openBrowser(),
    ])
    const started = await installation.start({
      ...oidcEnv(installation, provider),
      REMIT_SIGNUP: '1',
    })
    server = byName(started)
    await provider.register([server.url])
    const hosts = [provider.issuer, server.url, `http://127.0.0.1:${other.port}`]
    tab = await openTab(browser, server, { hosts: hosts.map((url) => new URL(url).host) })
    page = tab.page
  })
  afterAll(async () => {
    await browser?.close()
    await installation?.remove()
    await provider?.close()
    await other?.close()
  })
  beforeEach(async () => {
    email = `eve${++count}@example.org`
    provider.subject = `eve${count}`
    provider.accounts.set(provider.subject, { email, email_verified: true, name: 'Eve' })
    await renew(tab)
  })

  const navigation = () => page.getByRole('navigation', { name: 'Pages' })
  const create = () => page.getByRole('link', { name: 'Create an organization' })
  const signIn = async () => {
    await page.goto('/console/')
    await page.getByRole('link', { name: /^Sign in with/ }).click()
  }

  test('a new person creates an organization, gets its key once and is its administrator', async () => {
    await signIn()
    await page.getByText('No organization has invited this account.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await create().click()
    const shown = page.getByText(`The organization ${email} was created.`)
    const [key = ''] = KEY.exec(await shown.innerText()) ?? []
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('link', { name: 'Continue to the console' }).click()
    await navigation().waitFor()
    await settled(page)

    const who = page.getByRole('group', { name: 'Signed in as' })
    expect(await who.innerText()).toBe(`${email}\nadmin`)
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${server.url}/v1/session`, { headers })
    expect(await response.json()).toMatchObject({ organization: { name: email, plan: 'free' } })
    expect(tab.complaints.filter((complaint) => !complaint.endsWith(REFUSED))).toEqual([])

    // The key is nowhere else, also not on the page that one goes back to.
    await page.goBack()
    expect(await page.content()).not.toMatch(KEY)
    await tab.context.clearCookies({ name: /^remit_session/ })
    await signIn()
    await navigation().waitFor()
    expect(await page.content()).not.toMatch(KEY)
  })

  test('a link on another site creates nothing; the person decides', async () => {
    other.html = `<a href="${server.url}/console/login?signup=1">Free gifts</a>`
    await page.goto(`http://127.0.0.1:${other.port}/`)
    await page.getByRole('link', { name: 'Free gifts' }).click()
    await create().waitFor()
    expect(await page.content()).not.toMatch(KEY)

    await create().click()
    await page.getByText(`The organization ${email} was created.`).waitFor()
  })

  test('an address that the provider has not verified creates nothing', async () => {
    provider.accounts.set(provider.subject, { email, email_verified: false, name: 'Eve' })
    await signIn()
    await create().click()
    await page.getByText('has not verified an e-mail address').waitFor()
    expect(await page.content()).not.toMatch(KEY)
  })
})
