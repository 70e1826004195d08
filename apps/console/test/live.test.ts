import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  barsOf,
  changeOf,
  hasRecordBefore,
  periodOf,
  SPANS,
  sumsOf,
} from '../src/pages/live/spans.ts'
import {
  arrived,
  canRunAll,
  go,
  openBrowser,
  openTab,
  settled,
  startSession,
  violationsInBoth,
} from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

const NOW = Date.parse('2026-11-20T08:30:10.000Z')
const stat = (ago: number, key: string, count: number) => ({
  from: new Date(NOW - ago).toISOString(),
  key,
  count,
  amount_usd: 0,
})
const HOUR_MS = 3_600_000

const raise = (): never => {
  throw new Error('not counted yet')
}

describe('counts of a period', () => {
  test('have the bucket in which the period begins', () => {
    const period = periodOf('1h', NOW)
    const data = [stat(NOW - period.from, 'deny', 1), stat(NOW - period.before, 'deny', 1)]

    expect(sumsOf({ data }, period)).toEqual([{ key: 'deny', count: 1, before: 1 }])
  })

  test.each(['1h', '24h', '7d'] as const)(
    'of %s are compared with the period of the same length before it',
    (span) => {
      const { ms, bucketMs } = SPANS[span]
      const period = periodOf(span, NOW)
      const data = [
        stat(2 * bucketMs, 'deny', 6),
        stat(bucketMs, 'allow', 2),
        stat(ms + 2 * bucketMs, 'deny', 4),
        stat(2 * ms + 2 * bucketMs, 'deny', 100),
      ]

      expect(sumsOf({ data }, period)).toEqual([
        { key: 'deny', count: 6, before: 4 },
        { key: 'allow', count: 2, before: 0 },
      ])
      const bars = barsOf({ data }, 'deny', period)
      expect(bars).toHaveLength(ms / SPANS[span].barMs)
      expect(bars.reduce((sum, n) => sum + n, 0)).toBe(6)
    },
  )

  test.each([
    [6, 4, 50],
    [1, 4, -75],
    [4, 4, 0],
    [4, 0, null],
  ])('%d after %d is a change of %j percent', (count, before, change) => {
    expect(changeOf({ count, before })).toBe(change)
  })
})

test.each([
  ['that began before the period', '2026-11-20T07:30:59.000Z', true],
  ['that began within the period', '2026-11-20T07:31:00.000Z', false],
  ['without an entry', null, false],
])('a ledger %s is a base to compare with: %s, %s', (_, start, isBase) => {
  expect(hasRecordBefore(start, periodOf('1h', NOW))).toBe(isBase)
})

describe.skipIf(!canRunAll)('the page Live', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  let page: Page
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    await server.api.createPolicy({ body: { effect: 'deny', actions: ['db.drop*'] } })
    for (const agent_id of ['payer', 'payer', 'cleaner'])
      await server.api.authorize({ body: { agent_id, action: 'db.drop_table' } })
    await server.api.authorize({ body: { agent_id: 'payer', action: 'mail.send' } })
    const counted = async () => (await server.api.getStats()).data.length === 2 || raise()
    await vi.waitFor(counted, { timeout: 60_000 })
    tab = await openTab(browser, server)
    page = tab.page
    await startSession(tab, server, server.key)
    await page.goto('/console/')
    await settled(page)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  const tile = (name: string) =>
    page.getByRole('main').getByRole('link', { name: new RegExp(`^${name}`) })
  const search = () => Object.fromEntries(new URL(page.url()).searchParams)

  test('counts the chosen period, and the address keeps the choice', async () => {
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await page.waitForURL(/span=7d/)
    await page.reload()
    await settled(page)
    await page.getByText('Decisions in the last 7 days').waitFor()

    expect(await tile('Denied').innerText()).toContain('3')
    expect(await tile('Allowed').innerText()).toContain('1')
    expect(await tile('Allowed').innerText()).toContain('no earlier record')
    expect(await violationsInBoth(page)).toEqual([])
    expect(tab.complaints.splice(0)).toEqual([])
  })

  test('numbers the newest entry and the newest signed one in one unit', async () => {
    const { head } = await server.api.listEntries({ query: { limit: 1 } })
    const text = await tile('Ledger').innerText()

    expect(text).toContain(`Entry ${head.seq}`)
    expect(text).toContain(`signed up to entry ${head.seq}`)
  })

  test('a click on a number or on the most denied agent lists these decisions', async () => {
    await go(page, '/?span=1h')
    await page.getByRole('region', { name: 'Most denied agents' }).waitFor()
    const denied = page.getByRole('region', { name: 'Most denied agents' }).getByRole('row')
    expect(await denied.nth(1).innerText()).toMatch(/payer\s+2\s+0/)
    await denied.getByRole('link', { name: 'payer' }).click()
    await arrived(page, 'Ledger')
    await settled(page)
    expect(search()).toMatchObject({ agent_id: 'payer', decision: 'deny' })
    // The head of the list is a row, too.
    await expect.poll(() => page.getByRole('row').count(), { timeout: 60_000 }).toBe(3)

    await go(page, '/?span=1h')
    await tile('Denied').click()
    await arrived(page, 'Ledger')
    await settled(page)
    await expect.poll(() => page.getByRole('row').count(), { timeout: 60_000 }).toBe(4)
  })

  test('a bar of the chart, and its row in the table, list its decisions', async () => {
    await go(page, '/')
    const chart = page.getByRole('group', { name: 'Decisions in the last 24 hours' })
    await chart.locator('[data-pick]').last().click()
    await arrived(page, 'Ledger')
    const clicked = search()
    expect(Date.parse(clicked['to']!) - Date.parse(clicked['from']!)).toBe(HOUR_MS)

    await go(page, '/')
    await page.getByRole('button', { name: 'Show as table' }).click()
    await page.getByRole('region', { name: 'Decisions in the last 24 hours' }).waitFor()
    await page.getByRole('row').nth(24).getByRole('button').click()
    await arrived(page, 'Ledger')
    await settled(page)
    expect(search()).toMatchObject({ kind: 'authorization.decided', from: clicked['from'] })
    await expect.poll(() => page.getByRole('row').count(), { timeout: 60_000 }).toBe(5)
    expect(tab.complaints.splice(0)).toEqual([])
  })
})
