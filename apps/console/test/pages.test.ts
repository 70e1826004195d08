import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canRun, openBrowser, openTab, settled, signIn, violationsOf } from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { fillOrganization } from './support/data.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

const BUDGET_BYTES = 220_000
const PATHS = [
  '/',
  '/approvals',
  '/approvals?tab=history',
  '/policies',
  '/policies?tab=approval-rules',
  '/policies/new',
  '/policies/approval-rules/new',
  '/policies/approval-rules/large-refunds',
  '/ledger',
  '/ledger/3',
  '/agents',
  '/agents?tab=trust',
  '/agents?tab=issuers',
  '/agents/trust/new',
  '/agents/issuers/new',
  '/agents/support-bot',
  '/spend',
  '/reports',
  '/playground',
  '/playground?tab=scorers',
  '/playground?tab=decision',
  '/settings',
  '/settings?tab=keys',
  '/settings?tab=webhooks',
  '/settings?tab=about',
]

const textOf = (page: Page): Promise<string> => page.locator('main').innerText()

describe.skipIf(!canRun)('the console in Chromium', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    await fillOrganization(server.api)
    tab = await openTab(browser, server)
    await signIn(tab.page, server.key)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  describe.each(PATHS)('%s', (path) => {
    test('loads without another host or an error, and passes WCAG 2.2 AA in both schemes', async () => {
      const { page, complaints } = tab
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(`/console${path}`)
      await settled(page)

      expect(await page.locator('main h1').count()).toBe(1)
      expect(await violationsOf(page)).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await violationsOf(page)).toEqual([])
      expect(complaints.splice(0)).toEqual([])
    })
  })

  test('a report is readable and its hash is verified in the browser', async () => {
    const { page, complaints } = tab
    await page.goto('/console/reports')
    await page.getByRole('link', { name: 'SOC 2' }).first().click()
    await page.getByRole('button', { name: 'Verify the hash here' }).click()
    await page.getByText('Verified: the content has the recorded hash.').waitFor()

    expect(await violationsOf(page)).toEqual([])
    expect(complaints.splice(0)).toEqual([])
  })

  test('the login page has no violation of WCAG 2.2 AA and refuses a wrong key in words', async () => {
    const { page } = await openTab(browser, server)
    await page.goto('/console/ledger?kind=policy.created')
    await page.getByLabel('Key', { exact: true }).fill('rmk_wrong')
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This key is unknown or revoked.').waitFor()

    await page.getByLabel('Key', { exact: true }).fill(server.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()

    expect(new URL(page.url()).search).toBe('?kind=policy.created')
    await page.context().close()
  })

  test('the first load fits into 220 kB', async () => {
    const { page, context } = await openTab(browser, server)
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    let transferred = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      transferred += encodedDataLength
    })
    await signIn(page, server.key)
    await settled(page)

    expect(transferred).toBeGreaterThan(50_000)
    expect(transferred).toBeLessThan(BUDGET_BYTES)
    await context.close()
  })

  test('the browser keeps no key after signing in', async () => {
    const { page, context } = await openTab(browser, server)
    const bodies: string[] = []
    page.on('response', (response) => {
      void response.text().then(
        (text) => bodies.push(text),
        () => undefined,
      )
    })
    await signIn(page, server.key)
    await page.goto('/console/settings?tab=keys')
    await settled(page)
    const kept = await page.evaluate<string>(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])',
    )

    expect(kept).not.toContain('rmk_')
    expect(bodies.length).toBeGreaterThan(5)
    expect(bodies.filter((body) => body.includes(server.key.slice(0, 24)))).toEqual([])
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' })
    await context.close()
  })

  test('after the end of its key, the next click shows the login page', async () => {
    const { key, secret } = await server.api.createKey({ body: { role: 'read' } })
    const { page, context } = await openTab(browser, server)
    await signIn(page, secret!)
    await settled(page)
    await server.api.revokeKey({ params: { id: key.id } })
    await page.getByRole('link', { name: 'Policies' }).click()

    await page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()

    expect(await page.getByRole('navigation').count()).toBe(0)
    await context.close()
  })

  test('a reader sees no button that its role refuses', async () => {
    const { secret } = await server.api.createKey({ body: { role: 'read' } })
    const { page, context } = await openTab(browser, server)
    await signIn(page, secret!)
    await page.goto('/console/approvals')
    await page.getByText('You cannot vote on this request').waitFor()

    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    await page.goto('/console/policies')
    await settled(page)
    expect(await page.getByRole('link', { name: 'New policy' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Reports' }).count()).toBe(1)
    await context.close()
  })

  test('hostile texts are shown literally, with invisible characters spelled out', async () => {
    const { page, complaints } = tab
    const action = '<img src=x onerror=window.harmed=1>'
    await server.api.authorize({
      body: { agent_id: 'support-bot', action, context: { note: 'safe\u202Eevil\u200B' } },
    })
    const { data } = await server.api.listEntries({ query: { action, limit: 1 } })
    await page.goto(`/console/ledger/${data[0]!.seq}`)
    await settled(page)
    const text = await textOf(page)

    expect(text).toContain(action)
    expect(text).toContain('safe\\u{202e}evil\\u{200b}')
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.evaluate('window.harmed')).toBeUndefined()
    expect(complaints.splice(0)).toEqual([])
  })

  test('a long ledger scrolls to its first entry with few rows in the document', async () => {
    const entries = 1_500
    const work = Array.from({ length: entries }, (_, i) => i)
    for (let at = 0; at < entries; at += 100)
      await Promise.all(
        work
          .slice(at, at + 100)
          .map((i) =>
            server.api.appendEntry({ body: { action: 'load.step', resource: `n:${i}` } }),
          ),
      )
    const { page } = tab
    await page.goto('/console/ledger')
    const list = page.getByRole('region', { name: 'Entries' })
    await list.waitFor()
    await page.evaluate(`{
      const list = document.querySelector('[role=region][aria-label=Entries]')
      list.scrollTo(0, list.scrollHeight)
    }`)
    await page.getByRole('link', { name: '0', exact: true }).waitFor()

    expect(await page.getByRole('row').count()).toBeLessThan(200)
    expect(Number(await page.getByRole('table').getAttribute('aria-rowcount'))).toBeGreaterThan(
      entries,
    )
  })

  test('every filter is in the address, and the address brings it back', async () => {
    const { page } = tab
    await page.goto('/console/ledger')
    await page.getByLabel('Kind').selectOption('policy.created')
    await page.waitForURL(/kind=policy\.created/)
    await page.reload()
    await settled(page)

    expect(await page.getByLabel('Kind').inputValue()).toBe('policy.created')
    expect(await page.getByRole('row').count()).toBe(2)
  })
})
