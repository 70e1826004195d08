import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

const PAYEE = 'ACME GmbH\u200b'
const transfer = (n: number, amount: number, more: object = {}) => ({
  agent_id: 'treasury',
  action: 'payments.transfer',
  resource: `invoice:${n}`,
  context: { amount_usd: amount, payee: 'ACME GmbH', ...more },
})

describe.skipIf(!canRunAll)('an approver in the console', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  let ada: string
  let eve: string
  let open: string
  const ask = async (body: Parameters<Server['api']['authorize']>[0]['body']) =>
    (await server.api.authorize({ body })).request_id ?? ''
  const show = async (key: string, path: string): Promise<Page> => {
    await startSession(await renew(tab), server, key)
    await tab.page.goto(`/console${path}`)
    await settled(tab.page)
    return tab.page
  }
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    tab = await openTab(browser, server)
    const { api } = server
    const keyOf = async (person: string) =>
      (await api.createKey({ body: { role: 'approver', person } })).secret!
    ada = await keyOf('ada@example.com')
    eve = await keyOf('eve@example.com')
    await api.registerAgent({
      body: {
        agent_id: 'treasury',
        description: 'Pays invoices',
        owners: [{ type: 'user', id: 'finance-ops' }],
      },
    })
    await api.setApprovalRule({
      params: { id: 'large-payments' },
      body: {
        actions: ['payments.*', 'tools/call'],
        approvers: { users: ['ada@example.com', 'bob@example.com'], roles: [] },
      },
    })
    const approved = await ask(transfer(9001, 1200))
    await api.decideApproval({
      params: { requestID: approved },
      body: { decision: 'approve', comment: '=ordered', approver: 'bob@example.com' },
    })
    const text = { length: 9000, sha256: 'aa', start: 'Dear' }
    const more = { payee: PAYEE, omitted: { '/card': 'dGVzdA' }, text }
    open = await ask({ ...transfer(9003, 1001, more), replaced: ['/text'] })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  test('lands on the queue, and can open the other pages', async () => {
    const page = await show(ada, '/')
    await page.waitForURL(/\/console\/approvals$/)
    await page.getByRole('link', { name: 'Live', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()

    expect(new URL(page.url()).pathname).toBe('/console/')
  })

  test.each(['/approvals/ID', '/approvals?id=ID'])(
    'opens a request by its address %s',
    async (at) => {
      const page = await show(ada, at.replace('ID', open))
      await page.getByRole('heading', { name: '1,001.00 USD for invoice:9003' }).waitFor()

      expect(new URL(page.url()).pathname).toBe(`/console/approvals/${open}`)
    },
  )

  test('reads fields, who asks, what changed and what is hidden; the exact text is folded', async () => {
    const page = await show(ada, `/approvals/${open}`)
    const fields = page.getByLabel('Fields of the request')
    await fields.getByText('Approved before: 1,200.00 USD').waitFor()
    const text = await fields.innerText()

    expect(text).toContain('1,001.00 USD')
    expect(text).toContain('Approved before: invoice:9001')
    expect(text).toContain(String.raw`ACME GmbH\u{200b}`)
    expect(text).toContain('/card')
    expect(text).not.toContain('dGVzdA')
    expect(text).toContain('Stands for a longer value')
    await page.getByText('Pays invoices').waitFor()
    await page.getByText('finance-ops').waitFor()
    await page.getByText('1,200.00 USD · invoice:9001').waitFor()
    const exact = page.getByRole('region', { name: 'Exact text and hash' })
    expect(await exact.isVisible()).toBe(false)
    await page.getByText('Exact text and hash').click()
    const { shown } = await server.api.getApproval({ params: { id: open } })
    expect(await exact.innerText()).toBe(shown)
  })

  test('confirms in a dialog that repeats amount, resource and all fields, on a phone too', async () => {
    await tab.page.setViewportSize({ width: 390, height: 844 })
    const page = await show(ada, `/approvals/${open}`)
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Approve 1,001.00 USD for invoice:9003' })
    await dialog.getByText('Approved before: 1,200.00 USD').waitFor()
    const fields = dialog.getByLabel('Fields of the request')

    expect(await fields.innerText()).toContain(String.raw`ACME GmbH\u{200b}`)
    const box = await fields.boundingBox()
    expect(box!.y).toBeGreaterThan(0)
    expect(box!.y + box!.height).toBeLessThan(844)
    await tab.page.setViewportSize({ width: 1280, height: 720 })
  })

  test('who cannot vote is told the rule and who can, and is offered no policy', async () => {
    const page = await show(eve, `/approvals/${open}`)
    await page
      .getByText('The rule large-payments lets only ada@example.com and bob@example.com decide')
      .waitFor()
    expect(await page.getByRole('link', { name: /policy for requests/ }).count()).toBe(0)

    const admin = await show(server.key, `/approvals/${open}`)
    await admin.getByText('You cannot vote on this request').waitFor()
    expect(await admin.getByRole('link', { name: /policy for requests/ }).count()).toBe(0)
  })

  test('a call over MCP has the name of its tool and server; facts of the session are folded', async () => {
    const id = await ask({
      agent_id: 'coder',
      action: 'tools/call',
      resource: 'tool:create_directory',
      context: {
        tool: 'create_directory',
        upstream: 'files',
        session_id: 'ses_1',
        guard: { flagged: true, reasons: ['injection:override'] },
        args: { path: '/srv' },
      },
    })
    const page = await show(ada, `/approvals/${id}`)
    await page.getByRole('heading', { name: 'create_directory on server files' }).waitFor()
    const fields = page.getByLabel('Fields of the request')

    expect(await fields.innerText()).toContain('/srv')
    // A mark of the guard is no small print.
    expect(await fields.innerText()).toContain('injection:override')
    expect(await page.getByText('ses_1').first().isVisible()).toBe(false)
    expect(await page.locator('main').innerText()).not.toContain('tools/call')
  })

  test('a rule whose condition failed is named in the queue, on the page and in the dialog', async () => {
    const condition = 'amount_usd > 1000.0'
    const rule = { description: 'Payments above 1,000 USD', actions: ['refunds.*'], condition }
    await server.api.setApprovalRule({ params: { id: 'large-refunds' }, body: rule })
    const refund = { ...transfer(9010, -5), action: 'refunds.pay' }
    const [failed, holds] = [
      await ask(refund),
      await ask({ ...transfer(9011, 1001), action: 'refunds.pay' }),
    ]
    const page = await show(ada, `/approvals/${failed}`)
    const warning = 'The condition of the rule large-refunds could not be evaluated'
    await page.locator('main').getByText(warning).waitFor()
    const list = page.getByRole('list', { name: 'Requests' })
    const item = (id: string) => list.locator(`[data-id="${id}"]`)

    expect(await item(failed).innerText()).toContain('rule not evaluated')
    expect(await item(holds).innerText()).not.toContain('rule not evaluated')
    expect(await item(holds).innerText()).toMatch(/expires in \d+ h/)
    // Not approved together with one that the rule describes.
    for (const id of [failed, holds]) await item(id).getByRole('checkbox').check()
    expect(
      await page.getByRole('button', { name: 'Approve', exact: true }).first().isDisabled(),
    ).toBe(true)
    for (const id of [failed, holds]) await item(id).getByRole('checkbox').uncheck()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('dialog').getByText(warning).waitFor()
    await page.keyboard.press('Escape')
    await show(ada, `/approvals/${holds}`)

    expect(await page.getByText(warning).count()).toBe(0)
  })

  test('a request without a resource has no dot for it', async () => {
    await ask({ agent_id: 'treasury', action: 'payments.list' })
    const page = await show(ada, '/approvals')
    const rows = await page.getByRole('list', { name: 'Requests' }).locator('small').allInnerTexts()

    expect(rows).toContain('treasury')
    expect(rows.filter((row) => /·\s*$/.test(row))).toEqual([])
  })

  test('the history says what, how much, who, when and why, and is exported as CSV', async () => {
    const page = await show(ada, '/approvals?tab=history')
    const row = page.getByRole('row', { name: /invoice:9001/ })
    const text = await row.innerText()
    for (const part of ['payments.transfer', '1,200.00 USD', 'bob@example.com', '=ordered'])
      expect(text).toContain(part)

    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const file = await (await saved).path()
    const [head, line] = readFileSync(file, 'utf8').split('\r\n')

    expect(head).toContain('"resource","amount","status","decided_at"')
    expect(line).toContain('"invoice:9001","1,200.00 USD"')
    expect(line).toContain('"bob@example.com"')
    expect(line).toContain(`"'=ordered"`)
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: '1,200.00 USD for invoice:9001' }).waitFor()
  })

  test('a request in the history is compared with those approved before it alone, and projects no spend once used', async () => {
    const later = await ask(transfer(9010, 1210))
    await server.api.decideApproval({
      params: { requestID: later },
      body: { decision: 'approve', approver: 'bob@example.com' },
    })
    await server.api.setSpendLimit({ params: { id: 'treasury' }, body: { daily_usd: 90_000 } })
    await server.api.authorize({ body: transfer(9010, 1210) })
    const page = await show(server.key, `/approvals/${later}?tab=history`)
    await page.getByText('Approved before, under the same rule').waitFor()
    expect(await page.getByRole('main').innerText()).toContain('Approved before: invoice:9001')
    expect(await page.getByText('Spend of the agent').count()).toBe(0)

    await page.getByRole('link', { name: '1,200.00 USD' }).click()
    await page.getByRole('heading', { name: '1,200.00 USD for invoice:9001' }).waitFor()
    await page.getByText('No earlier request like this was approved under the same rule.').waitFor()
    await page.getByText('Spend of the agent').waitFor()
  })

  test('is notified by the browser of requests on which she can vote, once she has asked for it', async () => {
    const page = await show(ada, '/approvals')
    await page.addInitScript(NOTICES)
    await page.reload()
    await settled(page)
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.getByRole('button', { name: 'Notifications on' }).waitFor()
    await page.getByRole('link', { name: 'Policies', exact: true }).click()
    await settled(page)
    const stream = page.waitForResponse(/\/v1\/\w+\/events/)
    await page.reload()
    await stream
    const others = await server.api.setApprovalRule({
      params: { id: 'deploys' },
      body: { actions: ['deploy.*'], approvers: { users: ['bob@example.com'], roles: [] } },
    })
    expect(others.enabled).toBe(true)
    await ask({ agent_id: 'coder', action: 'deploy.web' })
    const id = await ask(transfer(9004, 2500))
    const notices = () => page.evaluate<Notice[]>('window.notices')
    await expect.poll(notices, { timeout: 60_000 }).toEqual([
      {
        title: 'Approval needed: 2,500.00 USD for invoice:9004',
        body: 'treasury · payments.transfer · invoice:9004 · 2,500.00 USD',
        tag: id,
      },
    ])
    await page.evaluate('window.last.dispatchEvent(new Event("click"))')
    await page.getByRole('heading', { name: '2,500.00 USD for invoice:9004' }).waitFor()
    await page.getByRole('button', { name: 'Notifications on' }).click()
    await page.getByRole('button', { name: 'Notify me' }).waitFor()
  })

  test.each([
    [1280, '/approvals'],
    [1280, '/approvals/ID'],
    [390, '/approvals/ID'],
    [1280, '/approvals?tab=history'],
    [390, '/settings?tab=webhooks'],
  ])('at %d pixels, %s passes WCAG 2.2 AA in both schemes', async (width, path) => {
    await tab.page.setViewportSize({ width, height: 844 })
    const page = await show(
      path.startsWith('/settings') ? server.key : ada,
      path.replace('ID', open),
    )
    for (const summary of await page.locator('summary').all()) await summary.click()

    expect(await violationsInBoth(page)).toEqual([])
  })

  test('no request of the pages above failed', () => {
    expect(tab.complaints).toEqual([])
  })
})

interface Notice {
  readonly title: string
  readonly body: string
  readonly tag: string
}

/** Notifications that a person has allowed; a browser without a screen refuses all. */
const NOTICES = `
  window.notices = []
  window.Notification = class extends EventTarget {
    static permission = 'default'
    static requestPermission = async () => (Notification.permission = 'granted')
    constructor(title, options) {
      super()
      window.last = this
      window.notices.push({ title, ...options })
    }
    close() {}
  }
  if (localStorage.getItem('remit.console.notifications')) Notification.permission = 'granted'`
