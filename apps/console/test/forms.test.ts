import { generateKeyPairSync } from 'node:crypto'
import { sampled } from '@remit/testing/pure'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  canRunAll,
  openBrowser,
  openTab,
  settled,
  signIn,
  violationsOf,
} from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

describe.skipIf(!canRunAll)('forms of the console', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  let page: Page
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    tab = await openTab(browser, server)
    page = tab.page
    await signIn(page, server.key)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  const open = async (path: string) => {
    await page.goto(`/console${path}`)
    await settled(page)
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const field = (name: string) => page.getByLabel(name, { exact: true })
  /** Deletes what the page shows, after the confirmation. */
  const remove = async () => {
    await button('Delete').click()
    const dialog = page.getByRole('dialog', { name: /^Delete this/ })
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }

  test('an approval rule is created, changed and deleted, with errors at the field as typed', async () => {
    await open('/policies/approval-rules/new')
    await field('Id').fill('large-refunds')
    await field('Actions').fill('payments.refund')
    await field('Approvals needed').fill('99')
    await page.getByText('required_approvals: must be a whole number from 1 to 20').waitFor()
    expect(await field('Approvals needed').getAttribute('aria-invalid')).toBe('true')
    expect(await button('Create').isDisabled()).toBe(true)
    expect(await violationsOf(page)).toEqual([])
    await field('Approvals needed').fill('2')
    await field('Bound members of the context').waitFor({ state: 'detached' })
    await field('Approvers by name').fill('ada@example.com\nbob@example.com')
    await page.getByText('The rule is valid').waitFor()
    await button('Create').click()
    await button('Save').waitFor()
    const params = { id: 'large-refunds' }
    expect(await server.api.getApprovalRule({ params })).toMatchObject({
      actions: ['payments.refund'],
      required_approvals: 2,
      approvers: { users: ['ada@example.com', 'bob@example.com'], roles: [] },
    })

    await server.api.setApprovalRule({ params, body: { actions: ['payments.refund', 'x'] } })
    await field('Description').fill('Two of us')
    const answer = () =>
      page.waitForResponse(
        (response) =>
          response.request().method() === 'POST' && !response.url().includes('validate'),
      )
    const diff = Promise.withResolvers<void>()
    await page.route(/text-diff/, async (route) => {
      await diff.promise
      await route.continue()
    })
    const loading = page.waitForRequest(/text-diff/)
    const refused = answer()
    await button('Save').click()
    await page.getByText('Your text is kept').waitFor()
    expect((await refused).status()).toBe(412)
    expect(tab.complaints.splice(0)).toEqual([expect.stringContaining('412')])
    // The buttons appear with the difference, and so never move.
    await loading
    expect(await button('Keep my text and save over it').count()).toBe(0)
    diff.resolve()
    const saved = answer()
    await button('Keep my text and save over it').click()
    expect((await saved).status()).toBe(200)
    expect(await server.api.getApprovalRule({ params })).toMatchObject({
      description: 'Two of us',
      actions: ['payments.refund'],
    })
    await remove()
    expect((await server.api.listApprovalRules()).data).toEqual([])
  })

  test('a request proposes a policy draft and an exception; neither stores anything by itself', async () => {
    await server.api.setApprovalRule({
      params: { id: 'refunds' },
      body: { actions: ['payments.refund'], condition: 'amount_usd > 5.0' },
    })
    const ask = () =>
      server.api.authorize({
        body: {
          agent_id: 'support-bot',
          action: 'payments.refund',
          resource: 'order:1',
          context: { amount_usd: 9 },
        },
      })
    await ask()
    await open('/approvals')
    await page.getByRole('link', { name: 'Draft a policy for requests like this' }).click()
    await field('Resources').waitFor()

    expect(await field('Resources').inputValue()).toBe('order:*')
    expect(await button('Create').isDisabled()).toBe(true)
    await button('Replay').click()
    await page.getByText('decisions replayed').waitFor()
    expect(await button('Create').isEnabled()).toBe(true)
    expect((await server.api.listPolicies()).data).toEqual([])

    await page.getByRole('link', { name: 'Narrow refunds' }).click()
    await page.getByText('The rule is valid').waitFor()
    await button('Save').click()
    await page.waitForURL(/refunds$/)
    const { condition } = await server.api.getApprovalRule({ params: { id: 'refunds' } })
    expect(condition).toContain('!(agent_id == "support-bot"')
    expect((await ask()).decision).toBe('allow')
  })

  test('the reasons of a deletion and of a stop are in the ledger', async () => {
    const { id } = await server.api.createPolicy({ body: { effect: 'deny', actions: ['a.b'] } })
    await open(`/policies/${id}`)
    await button('Delete').click()
    const dialog = page.getByRole('dialog', { name: /^Delete this/ })
    await dialog.getByLabel('Reason for the change').fill('No longer used')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.waitForURL(/policies$/)
    const deleted = await server.api.listEntries({ query: { kind: 'policy.deleted' } })
    expect(deleted.data[0]?.data).toMatchObject({ change_reason: 'No longer used' })

    await server.api.registerAgent({
      body: { agent_id: 'payer', owners: [{ type: 'user', id: 'ada' }] },
    })
    await open('/agents/payer')
    await button('Stop this agent').click()
    const stop = page.getByRole('dialog', { name: 'Stop this agent' })
    await stop.getByLabel('Reason').fill('Key leaked')
    await stop.getByRole('button', { name: 'Stop this agent' }).click()
    await page.getByText('Key leaked').waitFor()
    const { message } = await server.api.authorize({ body: { agent_id: 'payer', action: 'x.y' } })
    expect(message).toContain('Key leaked')
  })

  test.each(sampled(['user/ada@example.com', 'spiffe://td/ns/x', 'Köln-Bot 100%', 'trust/new']))(
    'an agent of any id is registered, opened again by its address, limited and stopped: %s',
    async (id) => {
      await open('/agents')
      await button('Register an agent').click()
      const form = page.getByRole('dialog', { name: 'Register an agent' })
      await form.getByLabel('Agent id').fill(id)
      await form.getByLabel('Owners').fill('ada')
      await form.getByRole('button', { name: 'Register an agent' }).click()
      await form.waitFor({ state: 'detached' })
      await page.waitForURL(`**/console/agents/${encodeURIComponent(id)}`)
      await page.getByRole('heading', { name: id }).waitFor()

      await page.reload()
      await page.getByRole('heading', { name: id }).waitFor()
      await button('Stop this agent').click()
      const stop = page.getByRole('dialog', { name: 'Stop this agent' })
      await stop.getByRole('button', { name: 'Stop this agent' }).click()
      await button('Let it act again').waitFor()
      const stopped = await server.api.getAgent({ params: { agentID: id } })
      expect(stopped.status).toBe('suspended')

      await open('/spend')
      await button('Set a limit').click()
      const limit = page.getByRole('dialog', { name: 'Limit of an agent' })
      await limit.getByLabel('Agent').fill(id)
      await limit.getByLabel('Per day (USD)').fill('5')
      await limit.getByRole('button', { name: 'Save' }).click()
      await limit.waitFor({ state: 'detached' })
      expect(await server.api.getSpendLimit({ params: { id } })).toMatchObject({ daily_usd: 5 })
    },
  )

  test('a trust policy is created, replaced and deleted', async () => {
    await open('/agents/trust/new')
    await field('From').fill('support-*')
    await field('To').fill('env=prod team="a b"')
    await field('Actions').fill('pay\nbad\u200bname')
    await page.getByText(/^actions\.1: must be/).waitFor()
    await field('Actions').fill('pay')
    await page.getByText('The rule is valid').waitFor()
    await button('Create').click()
    await page.getByRole('link', { name: 'Without description' }).click()
    await field('Description').fill('Support may pay')
    await button('Save').click()
    await page.getByRole('link', { name: 'Support may pay' }).waitFor()
    const { data } = await server.api.listTrustPolicies()
    expect(data).toMatchObject([
      {
        description: 'Support may pay',
        source_agents: ['support-*'],
        target_agents: [{ labels: { env: 'prod', team: 'a b' } }],
      },
    ])

    await page.getByRole('link', { name: 'Support may pay' }).click()
    await field('Description').waitFor()
    await remove()
    expect((await server.api.listTrustPolicies()).data).toEqual([])
  })

  test('an issuer is checked as typed, trusted, copied and deleted', async () => {
    await open('/agents/issuers/new')
    await field('Issuer').fill('https://login.example.com')
    await field('Audiences').fill('remit')
    await page.getByText(/^conditions: must have at least one condition/).waitFor()
    await button('Add a condition').click()
    await field('Claim').fill('env')
    await field('Value').fill('prod')
    await field('Keys').selectOption('inline')
    await field('JWK set (JSON)').fill(JSON.stringify({ keys: [publicKey()] }))
    await page.getByText('The rule is valid').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await button('Create').click()
    await page.waitForURL(/issuers\/idp_/)
    const { data } = await server.api.listIssuers()
    expect(data).toMatchObject([
      { audiences: ['remit'], conditions: [{ claim: 'env', equals: 'prod' }], keys: { count: 1 } },
    ])

    await page.getByRole('link', { name: 'New issuer with these terms' }).click()
    await page.waitForURL(/issuers\/new/)
    await field('Issuer').fill('https://other.example.com')
    await page.getByText('The rule is valid').waitFor()
    expect(await field('Value').inputValue()).toBe('prod')
    await page.goBack()
    await page.getByText('Terms never change').waitFor()
    await remove()
    expect((await server.api.listIssuers()).data).toEqual([])
    expect(tab.complaints.splice(0)).toEqual([])
  })
})

/** A public key as an issuer publishes it. */
function publicKey(): object {
  const { publicKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...key.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }
}
