import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askedPeriod } from '../src/pages/reports/asked-period.ts'
import type { Entry, Policy } from '@remit/contract'
import { triedOf } from '../src/pages/decisions/tried.ts'
import { hitsOf } from '../src/shell/search-hits.ts'
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

describe('the period of a report', () => {
  const now = Date.parse('2026-11-20T08:30:00.000Z')
  const at = (time: string) => `2026-${time}:00.000Z`

  test.each([
    ['of a young ledger is all of it', {}, at('11-19T07:00'), at('11-19T07:00'), at('11-20T08:30')],
    ['of an old ledger has 90 days', {}, at('01-01T00:00'), at('08-22T08:30'), at('11-20T08:30')],
    [
      'that ends today ends now',
      { to: '2026-11-20' },
      undefined,
      at('08-22T08:30'),
      at('11-20T08:30'),
    ],
    [
      'of past dates is as typed',
      { from: '2026-10-01', to: '2026-10-31' },
      undefined,
      '2026-10-01',
      '2026-10-31',
    ],
  ])('%s', (_, typed, start, from, to) => {
    expect(askedPeriod({ from: '', to: '', ...typed }, start, now)).toEqual({ from, to })
  })
})

describe('a rule that a decision does not record as matching', () => {
  const AT = '2026-11-20T08:00:00.000Z'
  const EARLIER = '2026-11-19T08:00:00.000Z'
  const LATER = '2026-11-21T08:00:00.000Z'
  const rule = {
    id: 'one',
    description: 'One',
    effect: 'deny',
    agents: ['pay*'],
    actions: ['payments.*'],
    resources: ['*'],
    condition: 'amount_usd > 500.0',
    enabled: true,
    not_before: null,
    expires_at: null,
    created_at: EARLIER,
    updated_at: EARLIER,
  } as Policy
  const decided = (reason: string, resource: string | null = 'invoice:1') =>
    ({ agent_id: 'payer', action: 'payments.transfer', resource, reason, recorded_at: AT }) as Entry
  const outcomes = (reason: string, change: Partial<Policy>, resource?: string | null) =>
    triedOf(decided(reason, resource), [{ kind: 'policy', id: 'other' }], {
      policies: [{ ...rule, ...change }],
      approvalRules: [],
    }).tried.map(({ outcome }) => outcome)
  const ALLOW = { effect: 'allow' } as const

  const CASES: readonly (readonly [string, string, Partial<Policy>, string])[] = [
    ['has a false condition', 'policy_allow', {}, 'condition'],
    [
      'is for other resources',
      'policy_allow',
      { condition: null, resources: ['vault:*'] },
      'resource',
    ],
    ['has both', 'policy_allow', { resources: ['vault:*'] }, 'either'],
    ['allows after another policy did', 'policy_allow', ALLOW, 'decided'],
    ['stands beside a policy that denies', 'policy_deny', {}, 'denied'],
    ['stands beside a policy that failed', 'policy_error', ALLOW, 'denied'],
    ['comes after a limit', 'spend_limit_daily', {}, 'before'],
    ['comes after a stop', 'agent_suspended', ALLOW, 'before'],
    ['was changed since', 'policy_allow', { updated_at: LATER }, 'changed'],
    [
      'was changed and disabled since',
      'policy_allow',
      { updated_at: LATER, enabled: false },
      'changed',
    ],
    ['meets a stage that failed', 'stage_unavailable', {}, 'unknown'],
    ['meets a reason of a newer server', 'action_forbidden', {}, 'unknown'],
    ['meets a reason named as a member of objects', 'toString', {}, 'unknown'],
  ]
  test.each(CASES)('%s', (_, reason, change, outcome) => {
    expect(outcomes(reason, change)).toEqual([outcome])
  })

  test.each([
    ['names another action', { actions: ['mail.*'] }],
    ['names another agent', { agents: ['mailer'] }],
    ['did not exist yet', { created_at: LATER, updated_at: LATER }],
    ['was disabled', { enabled: false }],
    ['was not in force yet', { not_before: LATER }],
    ['was over', { expires_at: AT }],
  ])('is not listed if it %s', (_, change) => {
    expect(outcomes('default_allow', change)).toEqual([])
  })

  test('does not match without a resource, unless it is for all', () => {
    expect(outcomes('default_allow', { resources: ['vault:*'] }, null)).toEqual(['resource'])
  })

  test('is an approval rule that was tried wherever the policies let the request pass', () => {
    const approvalRules = [{ ...rule, id: 'large' } as never]
    const of = (reason: string) =>
      triedOf(decided(reason), [], { policies: [], approvalRules }).tried[0]?.outcome

    expect(['approval_rejected', 'approved', 'policy_allow', 'default_allow'].map(of)).toEqual(
      Array.from({ length: 4 }, () => 'condition'),
    )
    expect(['default_deny', 'policy_deny'].map(of)).toEqual(['denied', 'denied'])
    expect(of('spend_limit_daily')).toBe('before')
  })

  test('is counted where it is for others', () => {
    const policies = [{ ...rule, actions: ['mail.*'] }, rule]
    const { tried, others } = triedOf(decided('default_allow'), [], { policies, approvalRules: [] })

    expect([tried.length, others]).toEqual([1, 1])
  })
})

describe('a search', () => {
  const nothing = { pages: [], agents: [], policies: [], rules: [], decisions: [] }
  const targets = (text: string, canReadLedger = true) =>
    hitsOf(text, { ...nothing, canReadLedger }).map(({ target }) => target.to)

  test.each([
    ['12', '/ledger/$seq'],
    ['dec_01m8', '/decisions/$id'],
    ['apr_01m8', '/approvals/$id'],
    ['payments.*', '/ledger'],
  ])('for %s leads to %s first', (text, to) => {
    expect(targets(` ${text} `)[0]).toBe(to)
  })

  test('finds nothing for a blank text, and no entry without the right to read them', () => {
    expect(targets('  ')).toEqual([])
    expect(targets('12', false)).toEqual([])
  })
})

describe.skipIf(!canRunAll)('the pages that lead', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  let page: Page
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
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

  const dialog = (name: string) => page.getByRole('dialog', { name })
  const button = (name: string) => page.getByRole('main').getByRole('button', { name, exact: true })
  const isDone = (name: string) =>
    page
      .getByRole('listitem')
      .filter({ hasText: name })
      .getByRole('img', { name: 'done' })
      .waitFor()

  test('an empty organization is led by forms to one that denies what no rule allows', async () => {
    await page.getByText('First steps: 0 of 6 done').waitFor()
    expect(await violationsInBoth(page)).toEqual([])
    await button('Register').click()
    const register = dialog('Register an agent')
    await register.getByLabel('Agent id').fill('payer')
    await register.getByLabel('Owners').fill('ada')
    await register.getByRole('button', { name: 'Register an agent' }).click()
    await isDone('Register an agent')
    expect(new URL(page.url()).pathname).toBe('/console/')

    await button('Ask').click()
    const ask = dialog('Ask for the first decision')
    // The dialog fills it in when it has read the agents.
    await expect
      .poll(() => ask.getByLabel('Agent id').inputValue(), { timeout: 60_000 })
      .toBe('payer')
    await ask.getByRole('button', { name: 'Ask' }).click()
    await ask.getByRole('status').waitFor()
    expect(await violationsInBoth(page)).toEqual([])
    await ask.getByRole('button', { name: 'Close' }).click()
    await isDone('Ask for the first decision')

    await button('Set a limit').click()
    const limit = dialog('Limit of an agent')
    await limit.getByLabel('Agent').fill('payer')
    await limit.getByLabel('Per day (USD)').fill('100')
    await limit.getByRole('button', { name: 'Save' }).click()
    await isDone('Limit what an agent spends')

    await page.getByRole('link', { name: 'New policy' }).click()
    await arrived(page, 'New policy')
    await server.api.createPolicy({ body: { effect: 'allow', actions: ['mail.*', 'payments.*'] } })
    await server.api.setApprovalRule({
      params: { id: 'large' },
      body: { actions: ['payments.*'], condition: 'amount_usd > 50.0' },
    })
    await go(page, '/')
    await isDone('Let people approve')
    await button('Deny by default').click()
    await dialog('Deny what no rule allows')
      .getByRole('button', { name: 'Deny by default' })
      .click()
    await page.getByText(/First steps/).waitFor({ state: 'detached' })
    expect((await server.api.getOrganization()).settings.default_effect).toBe('deny')
    expect(tab.complaints.splice(0)).toEqual([])
  })

  test('a decision is one story from the request over the votes to its cost', async () => {
    const { id: gone } = await server.api.createPolicy({
      body: { effect: 'deny', actions: ['payments.*'], condition: 'amount_usd > 5000.0' },
    })
    for (const body of [
      { description: 'Vaults stay closed', resources: ['vault:*'] },
      { description: 'No large ones', condition: 'amount_usd > 900.0' },
      { description: 'Mail', actions: ['mail.delete'] },
    ])
      await server.api.createPolicy({ body: { effect: 'deny', actions: ['payments.*'], ...body } })
    const body = {
      agent_id: 'payer',
      action: 'payments.transfer',
      resource: 'invoice:9003',
      context: { amount_usd: 60, upstream: 'bank', note: 'x\u202ey' },
    }
    const { request_id, decision_id: asked } = await server.api.authorize({ body })
    await server.api.decideApproval({
      params: { requestID: request_id! },
      body: { decision: 'approve', comment: 'Invoice seen', approver: 'bob' },
    })
    const { decision_id: id, decision } = await server.api.authorize({ body })
    expect(decision).toBe('allow')
    await server.api.appendEntry({
      body: {
        action: 'payments.transfer',
        agent_id: 'payer',
        decision_id: id,
        cost_usd: 59.5,
        outcome: 'success',
      },
    })
    await server.api.deletePolicy({ params: { policyID: gone } })
    await go(page, '/')
    await page.goto(`/console/decisions/${id}`)
    await settled(page)
    const text = async (name: string) => page.getByRole('region', { name, exact: true }).innerText()

    expect(await page.getByText('People approved exactly this request.').count()).toBe(1)
    const main = await page.getByRole('main').innerText()
    for (const part of ['invoice:9003', 'x\\u{202e}y', '59.50 USD', 'success', asked])
      expect(main).toContain(part)
    expect(await text('Rules')).toMatch(/Spend limit\s+payer\s+60.00 USD of 100.00 USD today/)
    expect(await text('Rules')).toMatch(/Approval rule\s+large\s+used · 1 of 1/)
    const rules = page.getByRole('region', { name: 'Rules', exact: true })
    await rules.getByText('Vaults stay closed').waitFor()
    expect(await rules.innerText()).toMatch(/Vaults stay closed\s+did not match: it is for other/)
    expect(await rules.innerText()).toMatch(/No large ones\s+did not match: its condition was not/)
    expect(await rules.innerText()).toMatch(new RegExp(`${gone}\\s+did not match`))
    await page.getByText('One rule for other agents or actions is not listed.').waitFor()
    expect(await text('Votes')).toMatch(/bob\s+approve\s+[\d:]+\s+Invoice seen/)
    for (const kind of ['approval.requested', 'authorization.decided', 'entry.appended'])
      expect(await text('Entries')).toContain(kind)
    expect(await text('Entries')).toContain('first key (key_')
    expect(await violationsInBoth(page)).toEqual([])

    await page.goto('/console/decisions/dec_none')
    await page.getByText('The ledger has no such decision').waitFor()
    expect(tab.complaints.splice(0)).toEqual([])
  })

  test('the page of an agent has its activity, spend, approvals, servers and stop', async () => {
    await page.goto('/console/agents/payer')
    await settled(page)
    const region = (name: string) => page.getByRole('region', { name, exact: true })
    const tile = (name: string) =>
      page.getByRole('main').getByRole('link', { name: new RegExp(`^${name}`) })
    await expect.poll(() => tile('Decisions').innerText(), { timeout: 60_000 }).toContain('3')

    expect(await tile('Last seen').innerText()).toMatch(/ago|now/)
    expect(await tile('Spent today').innerText()).toContain('of 100.00 USD')
    expect(await region('Newest decisions').innerText()).toContain('invoice:9003')
    expect(await region('Approvals').innerText()).toContain('used')
    expect(await page.getByRole('main').innerText()).toContain('bank')
    expect(await button('Stop this agent').count()).toBe(1)
    expect(await violationsInBoth(page)).toEqual([])
    await region('Newest decisions').getByRole('link').first().click()
    await page.waitForURL(/decisions\/dec_/)
    await settled(page)
    expect(tab.complaints.splice(0)).toEqual([])
  })

  test('an agent that is not registered has a page with what it did', async () => {
    await server.api.authorize({ body: { agent_id: 'stranger', action: 'mail.read' } })
    await page.goto('/console/agents/stranger')
    await page.getByRole('heading', { name: 'This agent is not registered' }).waitFor()
    await page.getByRole('region', { name: 'Newest decisions' }).getByText('mail.read').waitFor()

    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    tab.complaints.splice(0)
  })

  test.each([
    '/approvals/apr_none',
    '/policies/pol_none',
    '/policies/approval-rules/none',
    '/reports/rep_none',
    '/mcp-tools/none',
    '/agents/trust/none',
    '/agents/issuers/none',
  ])('%s says that there is no such record, and offers no second attempt', async (path) => {
    await page.goto(`/console${path}`)
    await page.getByText('The id in the address is wrong, or the record was deleted.').waitFor()

    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    // Nothing waits, so there is no list for the keys.
    expect(await page.getByText('j and k move').isVisible()).toBe(false)
    tab.complaints.splice(0)
  })

  test('spend of an agent without a limit says so', async () => {
    await page.goto('/console/spend?agent=nobody')
    await page.getByText('nobody has no limit').waitFor()

    expect(await page.getByText('The id in the address is wrong').count()).toBe(0)
    tab.complaints.splice(0)
  })

  test('a search by keyboard alone opens an agent, a decision by its resource, and an entry', async () => {
    const find = async (text: string) => {
      await page.keyboard.press('Control+k')
      const search = dialog('Search')
      await search.getByRole('combobox').fill(text)
      await search.getByRole('option').first().waitFor()
      return search
    }
    const search = await find('paye')
    expect(await violationsInBoth(page)).toEqual([])
    expect(await search.getByRole('option').first().innerText()).toContain('payer')
    await page.keyboard.press('Enter')
    await page.waitForURL(/agents\/payer/)

    const found = await find('invoice:9003')
    const first = found.getByRole('option').first()
    await expect.poll(() => first.innerText(), { timeout: 60_000 }).toContain('payments.transfer')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/ledger\/\d+/)

    await find('3')
    await page.keyboard.press('Enter')
    await page.waitForURL(/ledger\/3$/)
    await settled(page)
    expect(tab.complaints.splice(0)).toEqual([])
  })

  test('the first report, without dates, has the entries that there are, and says what to do', async () => {
    await page.goto('/console/reports')
    await settled(page)
    await page.getByText(/^Covers .* UTC\./).waitFor()
    await button('Generate').click()
    await page.waitForURL(/reports\/\w+/)
    await page.getByText('What to do about controls without evidence').waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1)!
    const report = await server.api.getReport({ params: { id } })
    const content = 'content' in report ? report.content : null

    expect(content?.ledger.by_kind['authorization.decided']).toBeGreaterThan(0)
    expect(await violationsInBoth(page)).toEqual([])
    expect(tab.complaints.splice(0)).toEqual([])
  })

  test('the spend of an empty agent is that of all', async () => {
    await page.goto('/console/spend?agent=')
    await settled(page)
    await page.getByRole('heading', { level: 1, name: 'Spend' }).waitFor()
    expect(tab.complaints.splice(0)).toEqual([])
  })

  test('a page that is opened while the server is away says so, and comes with the server', async () => {
    const other = await openTab(browser, server)
    await startSession(other, server, server.key)
    await other.page.goto('/console/')
    await settled(other.page)
    await other.context.setOffline(true)
    await other.page.getByRole('link', { name: 'Playground' }).click()
    await other.page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
    expect(new URL(other.page.url()).pathname).toBe('/console/playground')
    await other.page.getByRole('button', { name: 'Try again' }).click()
    await other.page.getByRole('alert').waitFor()
    await other.context.setOffline(false)
    await other.page.getByRole('button', { name: 'Try again' }).click()
    await other.page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
    await other.context.close()
  })
})
