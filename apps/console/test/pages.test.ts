import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { sampled } from '@remit/testing/pure'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  canRun,
  go,
  openBrowser,
  openTab,
  settled,
  signIn,
  startSession,
  violationsInBoth,
  violationsOf,
} from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { fillOrganization, HOSTILE, MARKUP } from './support/data.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

const BUDGET_BYTES = 200_000
const PATHS = [
  '/',
  '/approvals',
  '/approvals?tab=history',
  '/policies',
  '/policies?tab=approval-rules',
  '/policies?tab=sets',
  '/policies/new',
  '/policies/sets/new',
  '/policies/approval-rules/large-refunds',
  '/policies/approval-rules/new',
  '/ledger',
  '/ledger/3',
  '/agents',
  '/agents?tab=trust',
  '/agents?tab=issuers',
  '/agents/trust/new',
  '/agents/issuers/new',
  '/agents/support-bot',
  '/mcp-tools',
  '/mcp-tools?tab=all',
  '/spend',
  '/spend?agent=support-bot',
  '/spend?tab=budgets',
  '/spend/budgets/new',
  '/reports',
  '/playground',
  '/playground?tab=scorers',
  '/playground?tab=decision',
  '/playground?tab=authzen',
  '/settings',
  '/settings?tab=keys',
  '/settings?tab=people',
  '/settings?tab=login',
  '/settings?tab=webhooks',
  '/settings?tab=sinks',
  '/settings?tab=usage',
  '/settings?tab=about',
  '/no-such-page',
]

/** Pages with links to all others, and to their tabs. */
const TABBED = [
  '/',
  '/approvals',
  '/policies',
  '/agents',
  '/mcp-tools',
  '/playground',
  '/settings',
  '/spend',
]

/** Everything that a person reads or hears, with what fields and descriptions hold. */
const textOf = (page: Page): Promise<string> =>
  page.evaluate<string>(`[
    document.title,
    document.body.innerText,
    ...[...document.querySelectorAll('[title],[aria-label]')].map(
      (element) => element.title + ' ' + (element.ariaLabel ?? '')),
  ].join(' ')`)

/** Controls, and characters that hide or reorder others. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u

/** Chromium reports that the organization has no login provider of its own. */
const isExpected = (path: string, complaint: string): boolean =>
  path === '/settings?tab=login' && complaint.includes('status of 404')

describe.skipIf(!canRun)('the console in Chromium', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    await fillOrganization(server.api)
    tab = await openTab(browser, server)
    await startSession(tab, server, server.key)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  describe.each(sampled(PATHS, 4, 1))('%s', (path) => {
    test('is shown without another host or an error, and shows hostile texts as text', async () => {
      const { page, complaints } = tab
      await go(page, path)

      expect(await page.locator('main h1').count()).toBe(1)
      expect(await textOf(page)).not.toMatch(INVISIBLE)
      expect(await page.locator('img[src=x]').count()).toBe(0)
      expect(await page.evaluate('window.harmed')).toBeUndefined()
      expect(complaints.splice(0).filter((text) => !isExpected(path, text))).toEqual([])
    })
  })

  test.each(sampled(PATHS))('%s passes WCAG 2.2 AA in both schemes', async (path) => {
    await go(tab.page, path)
    expect(await violationsInBoth(tab.page)).toEqual([])
    tab.complaints.splice(0)
  })

  test.each(['/policies/new', '/ledger/3', '/settings?tab=keys', '/no-such-page'])(
    '%s opens by its address alone',
    async (path) => {
      const { page, complaints } = tab
      await page.goto(`/console${path}`)
      await settled(page)

      expect(await page.locator('main h1').count()).toBe(1)
      expect(complaints.splice(0)).toEqual([])
    },
  )

  test('the list of pages above is complete', async () => {
    const { page } = tab
    const known = new Set(PATHS.map((path) => `/console${path}`))
    const found = new Set<string>()
    for (const path of TABBED) {
      await go(page, path)
      // The current tab is the one that opens without a name.
      const links = await page.evaluate<string[]>(`
        [...document.querySelectorAll('nav a:not([aria-current])')].map(
          ({ pathname, search }) => pathname + search)`)
      for (const link of links) found.add(link)
    }

    expect(found.size).toBeGreaterThan(15)
    expect([...found].filter((path) => !known.has(path))).toEqual([])
    const routes = readFileSync(resolve(import.meta.dirname, '../src/main.tsx'), 'utf8')
    const patterns = [...routes.matchAll(/ path: '([^']+)'/g)].map(([, path = '']) =>
      path.startsWith('/') ? path : `/ledger/${path}`,
    )
    const isVisited = (pattern: string) => {
      const form = new RegExp(`^${pattern.replaceAll(/\$\w+/g, '[^/]+')}$`)
      return PATHS.some((path) => form.test(path.replace(/\?.*$/, '')))
    }
    // Their ids are known later: the next test, and that of the tools.
    expect(patterns.filter((pattern) => !isVisited(pattern))).toEqual([
      '/decisions/$id',
      '/approvals/$id',
      '/mcp-tools/$id',
      '/reports/$id',
    ])
  })

  test('a report is readable and its hash is verified in the browser', async () => {
    const { page, complaints } = tab
    await go(page, '/reports')
    await page.getByRole('link', { name: 'SOC 2' }).first().click()
    await page.getByRole('button', { name: 'Verify the hash here' }).click()
    await page.getByText('Verified: the content has the recorded hash.').waitFor()

    expect(await violationsInBoth(page)).toEqual([])
    expect(complaints.splice(0)).toEqual([])
  })

  test.each([
    ['/approvals', 'Approve'],
    ['/approvals', 'Show as curl'],
    ['/agents', 'Register an agent'],
    ['/', 'Keyboard shortcuts'],
  ])('on %s, the dialog of "%s" passes WCAG 2.2 AA in both schemes', async (path, name) => {
    const { page, complaints } = tab
    await go(page, path)
    await page.getByRole('button', { name, exact: true }).first().click()
    await page.getByRole('dialog').waitFor()

    expect(await violationsInBoth(page)).toEqual([])
    expect(complaints.splice(0)).toEqual([])
  })

  test('hostile texts are shown literally, with invisible characters spelled out', async () => {
    const { page, complaints } = tab
    const { data } = await server.api.listEntries({ query: { action: MARKUP, limit: 1 } })
    const spelled = HOSTILE.replace('\u202e', '\\u{202e}').replace('\u200b', '\\u{200b}')
    for (const path of [`/ledger/${data[0]!.seq}`, '/approvals', '/policies']) {
      await go(page, path)
      await expect.poll(() => textOf(page), { timeout: 60_000 }).toContain(spelled)
    }
    expect(await page.evaluate('window.harmed')).toBeUndefined()
    expect(complaints.splice(0)).toEqual([])
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

  test('nothing moves without end for a person who wants less motion', async () => {
    const { page, context } = await openTab(browser, server, { reducedMotion: 'reduce' })
    await page.goto('/console/')
    await page.getByLabel('Key', { exact: true }).waitFor()
    const times = await page.evaluate(`(() => {
      document.body.style.animation = 'sheen 1s infinite'
      return getComputedStyle(document.body).animationIterationCount
    })()`)

    expect(times).toBe('1')
    await context.close()
  })

  describe('sign-in with a key', () => {
    test('passes WCAG 2.2 AA, refuses a wrong key in words, and leads to the page that was asked for', async () => {
      const { page, complaints } = await openTab(browser, server)
      await page.goto('/console/ledger?kind=policy.created')
      await page.getByLabel('Key', { exact: true }).fill('rmk_wrong')
      expect(await violationsInBoth(page)).toEqual([])
      expect(complaints).toEqual([])
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('This key is unknown or revoked.').waitFor()
      expect(await violationsOf(page)).toEqual([])

      await page.getByLabel('Key', { exact: true }).fill(server.key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()

      expect(new URL(page.url()).search).toBe('?kind=policy.created')
      await page.context().close()
    })

    test('transfers at most 200 kB of files, and leaves no key in the browser', async () => {
      const { page, context } = await openTab(browser, server)
      const session = await context.newCDPSession(page)
      await session.send('Network.enable')
      let transferred = 0
      const files = new Set<string>()
      session.on('Network.requestWillBeSent', ({ requestId, request }) => {
        if (new URL(request.url).pathname.startsWith('/console/')) files.add(requestId)
      })
      session.on('Network.loadingFinished', ({ encodedDataLength, requestId }) => {
        if (files.has(requestId)) transferred += encodedDataLength
      })
      const bodies: Promise<string>[] = []
      page.on('response', (response) => {
        const { pathname } = new URL(response.url())
        // The stream of events has no end.
        if (pathname.startsWith('/v1/') && !pathname.endsWith('/events'))
          bodies.push(response.text().catch(() => ''))
      })
      await signIn(page, server.key)
      await settled(page)

      expect(transferred).toBeGreaterThan(50_000)
      expect(transferred).toBeLessThan(BUDGET_BYTES)

      for (const name of ['Settings', 'Keys', 'Webhooks', 'Agents', 'Ledger'])
        await page.getByRole('link', { name, exact: true }).click()
      await settled(page)
      const kept = await page.evaluate<string>(KEPT)

      expect(kept).not.toContain('rmk_')
      expect(bodies.length).toBeGreaterThan(5)
      const secret = server.key.slice(0, 24)
      expect((await Promise.all(bodies)).filter((body) => body.includes(secret))).toEqual([])
      const [cookie] = await context.cookies()
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' })
      expect(cookie?.value).not.toContain('rmk_')
      await context.close()
    })

    test('ends with the key: the next click shows the login page', async () => {
      const { key, secret } = await server.api.createKey({ body: { role: 'read' } })
      const other = await openTab(browser, server)
      await startSession(other, server, secret!)
      const { page, context } = other
      await page.goto('/console/')
      await settled(page)
      await server.api.revokeKey({ params: { id: key.id } })
      await page.getByRole('link', { name: 'Policies' }).click()
      await page.getByRole('heading', { name: 'Sign in to Remit' }).waitFor()

      expect(await page.getByRole('navigation').count()).toBe(0)
      await context.close()
    })

    test.each([
      '/policies/new',
      '/policies/approval-rules/new',
      '/agents/trust/new',
      '/agents/issuers/new',
    ])('of a reader has no form at %s that nobody of the role can save', async (path) => {
      const { secret } = await server.api.createKey({ body: { role: 'read' } })
      const other = await openTab(browser, server)
      await startSession(other, server, secret!)
      const { page, context } = other
      await page.goto(`/console${path}`)
      await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
      await page.getByRole('link', { name: 'Go to the first page' }).click()
      await page.getByRole('heading', { name: 'Live' }).waitFor()

      expect(await page.getByRole('button', { name: 'Create' }).count()).toBe(0)
      await context.close()
    })

    test('of a reader opens the first tab in place of one that the role lacks', async () => {
      const { secret } = await server.api.createKey({ body: { role: 'read' } })
      const other = await openTab(browser, server)
      await startSession(other, server, secret!)
      const { page, context } = other
      await page.goto('/console/playground?tab=authzen')
      await settled(page)

      expect(await page.getByRole('link', { name: 'Guard' }).getAttribute('aria-current')).toBe(
        'page',
      )
      expect(await page.getByRole('button', { name: 'Evaluate' }).count()).toBe(0)
      await context.close()
    })

    test('of a reader sends no form that it can only read', async () => {
      const { secret } = await server.api.createKey({ body: { role: 'read' } })
      const other = await openTab(browser, server)
      await startSession(other, server, secret!)
      const { page, context } = other
      await page.goto('/console/settings?tab=organization')
      await page.locator('main form').waitFor()
      const methods: string[] = []
      page.on('request', (request) => methods.push(request.method()))
      await page.evaluate(`document.querySelector('main form').requestSubmit()`)
      await settled(page)

      expect(methods.filter((method) => method !== 'GET')).toEqual([])
      await context.close()
    })

    test('of a reader shows no button that its role refuses', async () => {
      const { secret } = await server.api.createKey({ body: { role: 'read' } })
      const other = await openTab(browser, server)
      await startSession(other, server, secret!)
      const { page, context } = other
      await page.goto('/console/approvals')
      await page.getByText('You cannot vote on this request').waitFor()
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)

      await page.getByRole('link', { name: 'Policies' }).click()
      await settled(page)
      expect(await page.getByRole('link', { name: 'New policy' }).count()).toBe(0)
      expect(await page.getByRole('link', { name: 'Reports' }).count()).toBe(1)

      await page.getByRole('link', { name: 'Spend' }).click()
      await settled(page)
      await page.getByRole('region', { name: 'Open holds' }).getByRole('table').waitFor()
      expect(await page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0)
      await context.close()
    })
  })
})

/** Everything in which a page can keep a text. */
const KEPT = `(async () => JSON.stringify([
  document.cookie,
  { ...localStorage },
  { ...sessionStorage },
  await indexedDB.databases(),
  await caches.keys(),
  history.state,
  location.href,
  window.name,
  [...document.querySelectorAll('input,textarea')].map(({ value }) => value),
]))()`
