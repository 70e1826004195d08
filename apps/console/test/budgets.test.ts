import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  canRunAll,
  openBrowser,
  openTab,
  renew,
  settled,
  startSession,
  violationsInBoth,
} from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

const TEAMS = ['finance', 'sales', 'support', 'research', 'platform']
const TASKS = ['invoices', 'travel', 'reports', 'tests']

describe.skipIf(!canRunAll)('the pages of budgets', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  let page: Page
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    tab = await openTab(browser, server)
    page = tab.page
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })
  beforeEach(async () => {
    await startSession(await renew(tab), server, server.key)
  })

  const open = async (path: string) => {
    await page.goto(`/console${path}`)
    await settled(page)
  }
  const money = { unit: 'usd', window: 'month', time_zone: 'Europe/Berlin' } as const
  const set = (id: string, body: Parameters<typeof server.api.setBudget>[0]['body']) =>
    server.api.setBudget({ params: { id }, body })

  test('creates the first budget from a form', async () => {
    await open('/spend?tab=budgets')
    await page.getByText('No budget').waitFor()
    await page.getByRole('link', { name: 'New budget' }).click()
    await page.getByLabel('Budget', { exact: true }).fill('company')
    await page.getByLabel('Limit', { exact: true }).fill('5000')
    await page.getByLabel('Time zone').fill('Europe/Berlin')
    expect(await violationsInBoth(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Budget in force').waitFor()
    expect(await server.api.getBudget({ params: { id: 'company' } })).toMatchObject({
      limit: 5000,
      window: 'month',
      match: { agents: ['*'] },
    })
  })

  test('shows a tree of thirty, with what is used, held, kept and left', async () => {
    for (const [i, team] of TEAMS.entries()) {
      const agents = [`${team}-*`]
      await set(team, {
        ...money,
        parent_id: 'company',
        limit: 1000 - i * 150,
        reserved: team === 'finance' || team === 'support',
        description: `Agents of ${team}`,
        match: { agents },
      })
      for (const [k, task] of TASKS.entries())
        await set(`${team}-${task}`, {
          ...money,
          parent_id: team,
          limit: 200 - k * 25,
          match: { agents: [`${team}-bot`], actions: [`${task}.*`] },
        })
    }
    await set('calls', { unit: 'calls', window: 'rolling_24h', limit: 40, per: 'agent' })
    await set('tokens', { unit: 'tokens', window: 'day', limit: 2_000_000, mode: 'observe' })
    await set('trial', { unit: 'usd', window: 'total', limit: 10, match: { agents: ['trial-*'] } })
    await set('night', { ...money, parent_id: 'company', limit: 300, enabled: false })
    let turn = 0
    for (const team of TEAMS)
      for (const [k, task] of TASKS.entries()) {
        const context = { amount_usd: 40 + ((turn += 37) % 90), amounts: { tokens: 12_500 } }
        const body = { agent_id: `${team}-bot`, action: `${task}.pay`, context }
        const { decision_id } = await server.api.authorize({ body })
        if (k % 2 === 0)
          await server.api.appendEntry({
            body: { action: 'spend.settle', decision_id, cost_usd: context.amount_usd },
          })
      }
    await open('/spend?tab=budgets')
    const rows = page.getByRole('table').getByRole('row')
    expect(await rows.count()).toBe(31)
    const first = await rows.nth(2).textContent()
    expect(first).toContain('company')
    expect(
      await page.getByRole('row', { name: /finance reserved Agents of finance/ }).count(),
    ).toBe(1)
    expect(await violationsInBoth(page)).toEqual([])

    await page.getByRole('link', { name: 'calls', exact: true }).click()
    await page.getByRole('row', { name: /finance-bot/ }).waitFor()
    expect(await violationsInBoth(page)).toEqual([])

    await open('/spend/budgets/finance')
    await page.getByRole('link', { name: 'finance-invoices' }).waitFor()
    expect(await violationsInBoth(page)).toEqual([])
    await page.getByLabel('Limit', { exact: true }).fill('900')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Budget in force').waitFor()
    const { limit, reserved, match } = await server.api.getBudget({ params: { id: 'finance' } })
    expect({ limit, reserved, agents: match.agents }).toEqual({
      limit: 900,
      reserved: true,
      agents: ['finance-*'],
    })
  })

  test('names the field of a refused change, and removes a budget', async () => {
    await open('/spend/budgets/trial')
    await page.getByLabel('Limit', { exact: true }).fill('-1')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('must be a number from 0').first().waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Budget removed').waitFor()
    await page.getByRole('link', { name: 'company', exact: true }).waitFor()
    await page.getByRole('link', { name: 'trial', exact: true }).waitFor({ state: 'detached' })
    const { data } = await server.api.listBudgets()
    expect(data.map(({ id }) => id)).not.toContain('trial')
  })
})
