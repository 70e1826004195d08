import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canRunAll, go, openBrowser, openTab, settled, startSession } from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { fillOrganization } from './support/data.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

/** Pages with a list, and the file of the last list. */
const LISTS = [
  ['/', 'decisions'],
  ['/policies', 'policies'],
  ['/policies?tab=approval-rules', 'approval-rules'],
  ['/ledger', 'ledger'],
  ['/agents', 'agents'],
  ['/agents?tab=trust', 'trust-policies'],
  ['/mcp-tools', 'mcp-tools'],
  ['/mcp-tools?tab=all', 'mcp-tools'],
  ['/spend', 'holds'],
  ['/reports', 'reports'],
  ['/settings?tab=keys', 'keys'],
  ['/settings?tab=people', 'people'],
  ['/settings?tab=webhooks', 'webhooks'],
] as const

describe.skipIf(!canRunAll)('lists of the console', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  let page: Page
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    await fillOrganization(server.api)
    await server.api.createTrustPolicy({
      body: { effect: 'allow', source_agents: ['a'], target_agents: ['b'], actions: ['pay'] },
    })
    tab = await openTab(browser, server)
    page = tab.page
    await startSession(tab, server, server.key)
    await page.goto('/console/settings?tab=about')
    await settled(page)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  const save = async (): Promise<readonly [name: string, text: string]> => {
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).last().click()
    const file = await download
    return [file.suggestedFilename(), await readFile(await file.path(), 'utf8')]
  }

  test.each(LISTS)('%s is saved as the CSV file %s, with all rows', async (path, name) => {
    await go(page, path)
    const rows = await page.locator('table').last().locator('tbody tr').count()
    const [file, text] = await save()

    expect(file).toBe(`${name}.csv`)
    const lines = text.trimEnd().split('\r\n').length
    // The list of the ledger is no table; the next test counts its file.
    expect(lines).toBeGreaterThan(1)
    expect([0, lines - 1]).toContain(rows)
    expect(tab.complaints.splice(0)).toEqual([])
  })

  test('a file has conditions and exact times, and all entries of a filter', async () => {
    await go(page, '/policies?tab=approval-rules')
    const [, rules] = await save()
    expect(rules).toContain('amount_usd > 500.0')
    expect(rules).toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/)

    await page.goto('/console/ledger?kind=authorization.decided')
    await settled(page)
    const [, entries] = await save()
    const { data } = await server.api.listEntries({ query: { kind: 'authorization.decided' } })
    expect(entries.trimEnd().split('\r\n')).toHaveLength(data.length + 1)
    expect(entries).toContain(data[0]!.hash)
  })

  test.each(LISTS)(
    'on a phone, every row of %s is whole without scrolling sideways',
    async (path) => {
      await page.setViewportSize({ width: 390, height: 800 })
      try {
        await page.goto(`/console${path}`)
        await settled(page)
        const cut = await page.evaluate<string[]>(`
        [...document.querySelectorAll('html, main, main [role=region]')]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ ariaLabel, tagName }) => ariaLabel ?? tagName)`)
        const outside = await page.evaluate<string[]>(`
        [...document.querySelectorAll('tbody td, [role=cell]')]
          .filter((cell) => cell.getBoundingClientRect().right > innerWidth)
          .map(({ textContent }) => textContent)`)

        expect(cut).toEqual([])
        expect(outside).toEqual([])
        expect(tab.complaints.splice(0)).toEqual([])
      } finally {
        await page.setViewportSize({ width: 1280, height: 720 })
      }
    },
  )

  test('on a phone, a card names the actions of a rule but no column of buttons, and the current tab is in view', async () => {
    const actions = page.locator('td[data-name="Actions"]')
    await page.setViewportSize({ width: 390, height: 844 })
    try {
      await go(page, '/policies')
      expect(await actions.count()).toBeGreaterThan(0)
      await go(page, '/settings?tab=keys')
      expect(await page.getByRole('button', { name: /^Revoke/ }).count()).toBeGreaterThan(0)
      expect(await actions.count()).toBe(0)
      await page.goto('/console/settings?tab=about')
      await settled(page)
      const box = await page.getByRole('link', { name: 'About', exact: true }).boundingBox()
      expect((box?.x ?? 390) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
    } finally {
      await page.setViewportSize({ width: 1280, height: 720 })
    }
  })

  test('shortcuts of one key act only in the list, and not when they are switched off', async () => {
    await page.goto('/console/approvals')
    const list = page.getByRole('list', { name: 'Requests' })
    await list.getByRole('link').first().waitFor()
    const before = page.url()
    const press = async () => {
      for (const key of ['j', 'k', 'a', 'r', '?']) await page.keyboard.press(key)
    }
    const dialogs = () => page.getByRole('dialog').count()
    for (const focused of [
      page.getByRole('link', { name: 'History' }),
      page.getByRole('button', { name: 'Show as curl' }),
      page.getByRole('region').first(),
      page.locator('main'),
    ]) {
      await focused.focus()
      await press()
      expect(page.url()).toBe(before)
      expect(await dialogs()).toBe(0)
    }

    await list.getByRole('link').first().focus()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByRole('checkbox').uncheck()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await list.getByRole('link').first().focus()
    await press()
    expect(page.url()).toBe(before)
    expect(await dialogs()).toBe(0)
    await page.evaluate('localStorage.clear()')
  })
})
