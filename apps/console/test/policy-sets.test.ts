import { createClient } from '@remit/contract'
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

const DOCUMENTS = [
  {
    apiVersion: 'remit.dev/v1' as const,
    kind: 'Policy' as const,
    name: 'no-drops',
    spec: { effect: 'deny' as const, actions: ['db.drop*'] },
  },
]

describe.skipIf(!canRunAll)('the page of policy sets', () => {
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

  const open = async () => {
    await page.goto('/console/policies?tab=sets')
    await settled(page)
  }
  const params = { id: 'main' }

  test('says how to begin where there is none', async () => {
    await open()
    await page.getByText('No policy set').waitFor()
    expect(await page.getByText('remit policy pull rules --unmanaged').count()).toBe(1)
  })

  test('shows what was changed outside of a set, and locks and removes it', async () => {
    const body = { documents: DOCUMENTS }
    const { plan_digest } = await server.api.planPolicySet({ params, body })
    await server.api.applyPolicySet({ params, body: { ...body, plan_digest } })
    await open()
    await page.getByText('Every object is as it was applied.').waitFor()
    await server.api.deletePolicy({ params: { policyID: 'no-drops' } })
    await open()
    const row = page.getByRole('row', { name: /no-drops deleted/ })
    await row.waitFor()
    await page.getByRole('button', { name: 'History' }).click()
    await page.getByRole('row', { name: /\b1 create\b/ }).waitFor()
    expect(await violationsInBoth(page)).toEqual([])

    const state = async () => (await server.api.listPolicySets()).data.map(({ locked }) => locked)
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Lock', exact: true }).click()
    await page.getByText('locked', { exact: true }).waitFor()
    expect(await state()).toEqual([true])
    await page.getByRole('button', { name: 'Remove the set' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the set' }).click()
    await page.getByText('No policy set').waitFor()
    expect(await state()).toEqual([])
  })

  test('applies a set from a template, after a look at its plan', async () => {
    await open()
    await page.getByRole('link', { name: 'New from template' }).click()
    await page.getByRole('link', { name: /^Payments: limits/ }).click()
    await page.getByText(/^0 unchanged\. Tests: \d+ passed, 0 failed\.$/).waitFor()
    await page.getByText('payments.one-list-of-payees').waitFor()
    await page.getByText('create ApprovalRule payments.second-person').waitFor()
    expect(await violationsInBoth(page)).toEqual([])
    await page.getByRole('button', { name: 'Apply the set' }).click()
    await page.getByText('The set is applied').waitFor()
    const { data } = await server.api.listPolicySets()
    expect(data.map(({ id }) => id)).toContain('payments')
    const rules = (await server.api.listApprovalRules()).data
    const rule = rules.find(({ id }) => id === 'payments.second-person')
    expect(rule?.condition).toBe('amount_usd > 1000')
    await server.api.removePolicySet({ params: { id: 'payments' }, query: { objects: 'delete' } })
  })

  test('proposes a change that needs a second person, shows it to them, and applies it', async () => {
    const keyOf = async (role: 'admin' | 'approver', key = server.key) =>
      (await createClient({ baseUrl: server.url, key }).createKey({ body: { role } })).secret ?? ''
    const admin = await keyOf('admin')
    const own = await keyOf('approver', admin)
    const other = server.operatorKey('approver')
    await startSession(await renew(tab), server, admin)
    await server.api.createPolicy({ body: { effect: 'deny', actions: ['db.drop*'] } })
    const { data } = await server.api.listPolicies()
    const policyID = data.find(({ actions }) => actions.includes('db.drop*'))?.id ?? ''
    await server.api.changeOrganization({
      body: { settings: { rule_changes: 'approve_weakening' } },
    })

    await page.goto(`/console/policies/${policyID}`)
    await settled(page)
    await page.getByLabel('Actions').fill('db.drop_table')
    await page.getByLabel(/Reason/).fill('Views may be dropped')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Propose the change' }).click()
    await page.getByText('may allow more').waitFor()
    await page.getByRole('row', { name: /actions.*db\.drop\*.*db\.drop_table/ }).waitFor()
    await page.getByText('Views may be dropped', { exact: true }).waitFor()
    expect(await violationsInBoth(page)).toEqual([])
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)

    const vote = async (key: string) => {
      const [request] = (await server.api.listApprovals({ query: { status: 'pending' } })).data
      const answer = await fetch(`${server.url}/v1/approvals/${request?.id}/decide`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ decision: 'approve' }),
      })
      return answer.status
    }
    expect([await vote(own), await vote(other)]).toEqual([403, 200])
    await page.reload()
    await page.getByRole('button', { name: 'Apply the changes' }).click()
    await page.getByText('The changes are applied').waitFor()
    const policy = await server.api.getPolicy({ params: { policyID } })
    expect(policy.actions).toEqual(['db.drop_table'])

    // A policy in no set joins one first, and then leaves it.
    const alone = await server.api.createPolicy({ body: { effect: 'deny', actions: ['db.wipe'] } })
    await page.goto(`/console/policies/${alone.id}`)
    await settled(page)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByRole('button', { name: 'Propose the change' }).click()
    await page.getByText(`delete Policy ${alone.id}`).waitFor()
    expect(await vote(other)).toBe(200)
    await page.reload()
    await page.getByRole('button', { name: 'Apply the changes' }).click()
    await page.getByText('The changes are applied').waitFor()
    const left = new Set((await server.api.listPolicies()).data.map(({ id }) => id))
    expect([left.has(policyID), left.has(alone.id)]).toEqual([true, false])
  })
})
