import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canRunAll, openBrowser, openTab, renew, settled, startSession } from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

const AGENT = 'support-bot'

describe.skipIf(!canRunAll)('work in the console', () => {
  let server: Server
  let browser: Browser
  let mine: Tab
  let theirs: Tab
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    ;[mine, theirs] = await Promise.all([openTab(browser, server), openTab(browser, server)])
    await theirs.page.addInitScript(NO_POLLING)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  const openAs = async (key: string, tab = mine): Promise<Page> => {
    await startSession(await renew(tab), server, key)
    return tab.page
  }

  describe('approvals', () => {
    let asker: string
    let approvers: string[]
    const ask = (amount: number) =>
      server.api.authorize({
        body: { agent_id: AGENT, action: 'payments.refund', context: { amount_usd: amount } },
      })
    beforeAll(async () => {
      const keyOf = async (person: string) =>
        (await server.api.createKey({ body: { role: 'approver', person } })).secret!
      asker = (await server.api.createKey({ body: { role: 'admin', person: 'carol@example.com' } }))
        .secret!
      approvers = [await keyOf('ada@example.com'), await keyOf('bob@example.com')]
      await server.api.setApprovalRule({
        params: { id: 'refunds' },
        body: { actions: ['payments.refund'], required_approvals: 2 },
      })
    })

    test('two people approve by keyboard alone; the event of one vote shows it to the other', async () => {
      const { request_id: id } = await ask(700)
      const [ada, bob] = await Promise.all([openAs(approvers[0]!), openAs(approvers[1]!, theirs)])
      const reads: string[] = []
      bob.on('request', (request) => {
        if (/\/v1\/approvals(?:\?|$)/.test(request.url())) reads.push(request.url())
      })
      const stream = bob.waitForResponse(/\/v1\/\w+\/events/)
      await Promise.all([ada, bob].map((page) => page.goto('/console/approvals')))
      await bob.getByText('0 of 2').waitFor()
      await stream
      await settled(bob)
      await openVote(ada, 'a')
      const before = reads.length
      await ada.keyboard.press('Control+Enter')
      await bob.getByText('1 of 2').waitFor()
      expect(before).toBeGreaterThan(0)
      expect(reads.length).toBeGreaterThan(before)

      await openVote(bob, 'a')
      await bob.keyboard.press('Control+Enter')
      await bob.getByText('Nothing waits for a decision').waitFor()
      await ada.getByText('Nothing waits for a decision').waitFor()
      const { status, votes } = await server.api.getApproval({ params: { id: id! } })

      expect(status).toBe('approved')
      expect(votes.map(({ approver }) => approver.named)).toEqual([true, true])
    })

    test('the person who asked sees a reason in the place of the buttons', async () => {
      const response = await fetch(`${server.url}/v1/authorize`, {
        method: 'POST',
        headers: { authorization: `Bearer ${asker}`, 'content-type': 'application/json' },
        body: JSON.stringify({ agent_id: AGENT, action: 'payments.refund', context: { n: 1 } }),
      })
      const { request_id: id } = (await response.json()) as { request_id: string }
      const page = await openAs(asker)
      await page.goto(`/console/approvals?id=${id}`)
      await page.getByText('You cannot vote on this request').waitFor()

      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    })

    test('several are rejected in one go, with the reason of the person', async () => {
      await Promise.all([ask(801), ask(802)])
      const page = await openAs(approvers[0]!)
      await page.goto('/console/approvals')
      const boxes = page.getByRole('checkbox', { name: /payments\.refund/ })
      await boxes.first().waitFor()
      for (let i = 0; i < (await boxes.count()); i++) await boxes.nth(i).check()
      const chosen = await boxes.count()
      await page.getByRole('button', { name: 'Reject' }).first().click()
      await page.getByLabel('Reason').fill('Not today')
      await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
      await page.getByText('Nothing waits for a decision').waitFor()
      const { data } = await server.api.listApprovals({ query: { status: 'rejected' } })

      expect(data).toHaveLength(chosen)
      expect(data.map(({ votes }) => votes[0]?.comment)).toEqual(data.map(() => 'Not today'))
    })
  })

  describe('policies', () => {
    test('an invalid condition is refused as it is typed, with its place', async () => {
      const page = await openAs(server.key)
      await page.goto('/console/policies/new')
      await page.getByLabel('Actions').fill('payments.*')
      await page.getByRole('textbox', { name: 'Condition in CEL' }).fill('context.amount * 2 > 1')
      await page.getByText(/line 1, column \d+/).waitFor()

      expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
    })

    test('a draft is saved after a replay of exactly it, and its flips are those of the API', async () => {
      await server.api.authorize({ body: { agent_id: 'x', action: 'mail.send' } })
      const page = await openAs(server.key)
      await page.goto('/console/policies/new')
      await page.getByLabel('Actions').fill('mail.*')
      const create = page.getByRole('button', { name: 'Create' })
      await page.getByText('The rule is valid').waitFor()
      expect(await create.isDisabled()).toBe(true)
      await page.getByRole('button', { name: 'Replay' }).click()
      await page.getByText('decisions replayed').waitFor()
      const flipped = page.getByRole('region', { name: 'Decisions that would have been different' })
      expect(await flipped.getByRole('row').count()).toBe(2)

      await page.getByLabel('Description').fill('No mail')
      expect(await create.isDisabled()).toBe(true)
      await page.getByRole('button', { name: 'Replay' }).click()
      await create.click()
      await page.waitForURL(/policies\/pol_/)
      const { data } = await server.api.listPolicies()
      expect(data.map(({ description }) => description)).toContain('No mail')
    })

    test('an observed rule shows what it would have decided, and is enforced by its state', async () => {
      const { id } = await server.api.createPolicy({
        body: { effect: 'deny', actions: ['observed.act'], mode: 'observe' },
      })
      const body = { agent_id: 'x', action: 'observed.act' }
      expect((await server.api.authorize({ body })).decision).toBe('allow')
      const page = await openAs(server.key)
      await page.goto(`/console/policies/${id}`)
      await page.getByText(/^It would have denied 1 of \d+ decisions in 7 days\.$/).waitFor()
      await page.getByRole('button', { name: 'Show the decisions' }).click()
      await page.getByRole('row', { name: /allow.*deny.*observed\.act/ }).waitFor()
      const state = page.getByLabel('State')
      expect(await state.inputValue()).toBe('observe')

      await state.selectOption('Enforced')
      await page.getByLabel('Reason for the change').fill('seen enough')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved and in force').waitFor()

      expect((await server.api.authorize({ body })).reason).toBe('policy_deny')
      const stored = await server.api.getPolicy({ params: { policyID: id } })
      expect(stored).toMatchObject({ enabled: true, mode: 'enforce' })
    })

    test('the second of two tabs that save is told, and keeps its text', async () => {
      const { id } = await server.api.createPolicy({
        body: { effect: 'deny', actions: ['a.b'], description: 'old' },
      })
      const first = await openAs(server.key)
      const second = await first.context().newPage()
      for (const page of [first, second]) {
        await page.goto(`/console/policies/${id}`)
        await page.getByLabel('Description').waitFor()
      }
      for (const [page, text] of [
        [first, 'first'],
        [second, 'second'],
      ] as const) {
        await page.getByLabel('Description').fill(text)
        await page.getByLabel('Reason for the change').fill('why not')
        await page.getByRole('button', { name: 'Save' }).click()
        await page
          .getByText(text === 'first' ? 'Saved and in force' : 'Your text is kept')
          .waitFor()
      }
      expect(await second.getByLabel('Description').inputValue()).toBe('second')
      await second.getByRole('button', { name: 'Keep my text and save over it' }).click()
      await second.getByText('Saved and in force').waitFor()
      const { data } = await server.api.listPolicies()

      expect(data.find((policy) => policy.id === id)?.description).toBe('second')
      await second.close()
    })
  })
})

/** Timers of a second and more never fire: what still changes a page came over the stream. */
const NO_POLLING = `
  for (const name of ['setTimeout', 'setInterval']) {
    const set = window[name]
    window[name] = (work, ms = 0, ...more) => (ms >= 1_000 ? 0 : set(work, ms, ...more))
  }`

const MOST_TABS = 60

/** Opens the dialog of a vote as a person without a mouse does: by Tab to the list, then one letter. */
async function openVote(page: Page, key: 'a' | 'r'): Promise<void> {
  const inList = `document.activeElement.matches('ul[aria-label=Requests] a')`
  for (let i = 0; i < MOST_TABS && !(await page.evaluate<boolean>(inList)); i++)
    await page.keyboard.press('Tab')
  expect(await page.evaluate<boolean>(inList)).toBe(true)
  await page.keyboard.press(key)
  await page.getByRole('dialog').waitFor()
}
