import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canRunAll, openBrowser, openTab, startSession } from './support/browser.ts'
import { writeLongLedger } from './support/long-ledger.ts'
import { createInstallation } from './support/server.ts'
import type { Installation } from './support/server.ts'

const ENTRIES = 100_000
const MOST_ROWS = 200
/** A row of a page reads this many entries at once. */
const LISTS = ENTRIES / 100

describe.skipIf(!canRunAll)('a ledger of 100,000 entries in Chromium', () => {
  let installation: Installation
  let browser: Browser
  let page: Page
  /** Requests for entries. */
  let lists = 0
  beforeAll(async () => {
    ;[installation, browser] = await Promise.all([createInstallation(), openBrowser()])
    const key = await writeLongLedger(installation, ENTRIES)
    const server = await installation.start({}, key)
    const tab = await openTab(browser, server)
    await startSession(tab, server, key)
    page = tab.page
    page.on('request', (request) => {
      if (/\/v1\/ledger\?/.test(request.url())) lists += 1
    })
    await page.goto('/console/ledger')
    await row(ENTRIES - 1).waitFor()
    await page.evaluate(WATCH)
  })
  afterAll(async () => {
    await browser?.close()
    await installation?.remove()
  })

  const row = (seq: number) => page.getByRole('link', { name: String(seq), exact: true })

  test('scrolls from the newest entry to the first and back, by wheel, bar and keyboard, with few rows and requests', async () => {
    const list = page.getByRole('region', { name: 'Entries' })
    await list.hover()
    for (let i = 0; i < 40; i++) {
      await page.mouse.wheel(0, 2_500)
      await page.evaluate('new Promise(requestAnimationFrame)')
    }
    for (const share of [0.25, 0.5, 0.75]) {
      await page.evaluate(`{
        const list = document.querySelector('[role=region][aria-label=Entries]')
        list.scrollTo(0, list.scrollHeight * ${share})
      }`)
      await row(Math.round((ENTRIES - 1) * (1 - share))).waitFor()
    }
    await list.focus()
    await page.keyboard.press('End')
    await row(0).waitFor()
    // Numbers of rows and entries agree, wherever the list has been.
    const { most, wrong } = await page.evaluate<{ most: number; wrong: number[] }>('window.watched')
    await page.keyboard.press('Home')
    await row(ENTRIES - 1).waitFor()

    expect(Number(await page.getByRole('table').getAttribute('aria-rowcount'))).toBe(ENTRIES + 1)
    expect(wrong).toEqual([])
    expect(most).toBeGreaterThan(10)
    expect(most).toBeLessThan(MOST_ROWS)
    expect(lists).toBeLessThan(LISTS / 4)
  })
})

/** Looks at each frame: the number of rows, and rows that show another entry than the one of their place. */
const WATCH = `
  window.watched = { most: 0, wrong: [] }
  const look = () => {
    const rows = document.querySelectorAll('[role=row]')
    window.watched.most = Math.max(window.watched.most, rows.length)
    for (const row of rows) {
      const seq = row.querySelector('a')?.textContent
      if (seq !== undefined && Number(seq) !== ${ENTRIES} + 1 - row.ariaRowIndex)
        window.watched.wrong.push(Number(seq))
    }
    requestAnimationFrame(look)
  }
  look()`
