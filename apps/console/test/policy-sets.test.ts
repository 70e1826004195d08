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
})
