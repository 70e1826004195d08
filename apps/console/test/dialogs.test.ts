import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canRunAll, openBrowser, openTab, settled, startSession } from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { fillOrganization } from './support/data.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

/** Buttons that open a dialog or a drawer, by page. */
const DIALOGS = [
  ['/approvals', 'Show as curl'],
  ['/approvals/ONE', 'Approve'],
  ['/approvals/ONE', 'Reject'],
  ['/agents', 'Register an agent'],
  ['/agents/support-bot', 'Show as curl'],
  ['/ledger', 'Show as curl'],
  ['/policies/new', 'Show as curl'],
  ['/spend', 'Set a limit'],
  ['/settings?tab=keys', 'Show as curl'],
] as const

/** Elements of the page that a person would hit through an open dialog, over the whole window. */
const ABOVE = `(() => {
  const found = new Set()
  const root = document.querySelector('#root')
  for (let x = 3; x < innerWidth; x += 9)
    for (let y = 3; y < innerHeight; y += 9) {
      const hit = document.elementFromPoint(x, y)
      if (hit && hit !== root && root.contains(hit)) found.add(hit.outerHTML.slice(0, 120))
    }
  return [...found]
})()`

describe.skipIf(!canRunAll)('an open dialog', () => {
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

  const open = async (path: string, name: string): Promise<Page> => {
    const { page } = tab
    await page.goto(`/console${path}`)
    await settled(page)
    await page.getByRole('button', { name, exact: true }).filter({ visible: true }).first().click()
    await page.getByRole('dialog').waitFor()
    return page
  }

  describe.each([1440, 390])('in a window of %d pixels', (width) => {
    beforeAll(() => tab.page.setViewportSize({ width, height: 844 }))

    test.each(DIALOGS)('of %s, "%s", lies above everything of the page', async (path, name) => {
      const { data } = await server.api.listApprovals({ query: { status: 'pending', limit: 1 } })
      const page = await open(path.replace('ONE', data[0]!.id), name)

      expect(await page.evaluate(ABOVE)).toEqual([])
    })

    test('of many approvals lies above their boxes', async () => {
      const { page } = tab
      await page.goto('/console/approvals')
      await settled(page)
      const boxes = page.getByRole('checkbox')
      await boxes.nth(0).check()
      await boxes.nth(1).check()
      await page.getByRole('button', { name: 'Approve', exact: true }).first().click()
      await page.getByRole('dialog').waitFor()

      expect(await page.evaluate(ABOVE)).toEqual([])
    })
  })

  test('of the navigation on a phone lies above everything of the page', async () => {
    await tab.page.setViewportSize({ width: 390, height: 844 })
    const page = await open('/approvals', 'Menu')

    expect(await page.evaluate(ABOVE)).toEqual([])
  })
})
