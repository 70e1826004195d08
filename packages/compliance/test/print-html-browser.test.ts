import { execFileSync, spawnSync } from 'node:child_process'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageOf } from '../src/print/html/page.ts'
import { openChromium } from '@remit/testing/browser'
import { CHROMIUM, inFullRun, sampled } from '@remit/testing/pure'
import { HOSTILE } from './support/hostile.ts'
import { FRAMEWORKS, named, quarter, reportOn } from './support/print.ts'

const isRun = inFullRun('printed reports') && CHROMIUM !== null

if (CHROMIUM === null) process.stderr.write('skipped: printing needs a Chromium\n')
const PDF_TEXT = 'pdftotext'
const hasPdfText = spawnSync(PDF_TEXT, ['-v']).status === 0

const facts = quarter('ACC-5', 'APR-3', 'DEC-3', 'GRD-1')
const REPORTS = FRAMEWORKS.map((framework) => reportOn(framework, facts))
const HARMED = reportOn('soc2', facts)
const ADDRESS = 'http://report.test/'

/** With some fonts, letter-spaced text and wrapped lines are extracted with blanks inside words. */
const withoutBlanks = (text: string): string => text.replace(/\s/g, '')

describe.skipIf(!isRun)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser.close())

  /** Opens a page as the server sends it; `withHeader`: as it was sent, not as a file that was kept. */
  async function open(report: typeof HARMED, withHeader = true) {
    const page = await browser.newPage()
    const asked: string[] = []
    const said: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    page.on('dialog', (dialog) => void dialog.dismiss().then(() => said.push('a dialog')))
    const { text: body, policy } = pageOf(report)
    const headers = withHeader ? { 'Content-Security-Policy': policy } : {}
    await page.route('**/*', (route) =>
      route.request().url() === ADDRESS
        ? route.fulfill({ body, contentType: 'text/html; charset=utf-8', headers })
        : route.abort(),
    )
    await page.goto(ADDRESS)
    return { page, asked, said }
  }

  /** Elements that exceed the page, at a width in CSS pixels. */
  async function overflowAt(page: Page, width: number): Promise<string[]> {
    await page.setViewportSize({ width, height: 1100 })
    return page.evaluate(`
      [...document.querySelectorAll('body *')]
        .filter((element) => {
          const box = element.getBoundingClientRect()
          return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5)
        })
        .map((element) => element.tagName + '.' + element.className)`)
  }

  test.each(REPORTS)(
    '$framework is styled, and neither runs scripts nor loads resources',
    async (report) => {
      for (const withHeader of [true, false]) {
        const { page, asked, said } = await open(report, withHeader)

        expect(asked).toEqual([ADDRESS])
        expect(said).toEqual([])
        expect(await page.evaluate('document.scripts.length')).toBe(0)
        // The sheet was taken: without it, headings of tables are centred.
        expect(
          await page.evaluate(`getComputedStyle(document.querySelector('thead th')).textAlign`),
        ).toBe('left')
        await page.close()
      }
    },
  )

  test('no name harms anybody', { timeout: 300_000 }, async () => {
    for (const name of sampled(HOSTILE, 5, 1)) {
      const { page, asked, said } = await open(named(HARMED, name))
      await page.hover('h1')

      expect(await page.evaluate('window.harmed'), name).toBeUndefined()
      expect(asked, name).toEqual([ADDRESS])
      expect(said, name).toEqual([])
      expect(await page.title(), name).toContain(HARMED.content.framework.name)
      // Everything after the name is where it should be.
      const headings = await page.locator('h2').allTextContents()
      expect(headings, name).toContain('How to check this report offline')
      await page.close()
    }
  })

  test('fits the screen of a telephone, of a desk, and paper of both kinds', async () => {
    const { page } = await open(named(HARMED, HOSTILE.join(' ')))
    expect(await overflowAt(page, 360)).toEqual([])
    expect(await overflowAt(page, 1280)).toEqual([])

    await page.emulateMedia({ media: 'print' })
    const margins = 2 * 16
    for (const millimetres of [210, 215.9])
      expect(await overflowAt(page, Math.floor(((millimetres - margins) / 25.4) * 96))).toEqual([])
    await page.close()
  })

  test('a status is a word, also in prints without colors', async () => {
    const { page } = await open(HARMED)
    await page.emulateMedia({ media: 'print', forcedColors: 'active' })
    const words = await page.locator('.status').allTextContents()

    expect(new Set(words)).toEqual(
      new Set(['Evidence found', 'Attention', 'Not evidenced', 'Manual']),
    )
    await page.close()
  })

  test.each(['A4', 'Letter'])('prints on %s', async (format) => {
    const { page } = await open(HARMED)
    const pdf = await page.pdf({ format, preferCSSPageSize: false })

    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
    expect(pdf.length).toBeGreaterThan(50_000)
    await page.close()
  })

  test.skipIf(!hasPdfText)('each printed page carries the hash and the checkpoint', async () => {
    const { page } = await open(HARMED)
    const input = await page.pdf({ format: 'A4' })
    // In the order of the content: a layout depends on the widths of the installed fonts.
    const text = execFileSync(PDF_TEXT, ['-raw', '-', '-'], { input }).toString()
    const pages = text
      .split('\f')
      .map(withoutBlanks)
      .filter((one) => one !== '')

    expect(pages.length).toBeGreaterThan(5)
    for (const [at, printed] of pages.entries()) {
      expect(printed).toContain(withoutBlanks(`content sha-256 ${HARMED.content_sha256}`))
      expect(printed).toContain(withoutBlanks(`checkpoint 411 ${HARMED.ledger_head.hash}`))
      expect(printed).toContain(`${at + 1}/${pages.length}`)
    }
    expect(pages[0]).toContain('EVIDENCEREPORT')
    expect(pages[0]).not.toContain('Summary')
    expect(pages[1]).toContain('Summary')
    await page.close()
  })
})
