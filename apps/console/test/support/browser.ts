import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { CHROMIUM, CHROMIUM_ARGS } from '@remit/core/testing'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Server } from './server.ts'

const PACKAGES = resolve(import.meta.dirname, '../../../../packages')

/** The community edition has none of the pages that these tests open. */
const isWhole = readdirSync(PACKAGES).some((name) => {
  const tags = join(PACKAGES, name, 'turbo.json')
  return existsSync(tags) && readFileSync(tags, 'utf8').includes('commercial')
})

export const canRun: boolean = isWhole && CHROMIUM !== null
if (CHROMIUM === null) process.stderr.write('skipped: the console needs a Chromium\n')

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', args: CHROMIUM_ARGS })

/** A tab, and everything in it that must not happen. */
export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors on the console, exceptions, violations of the content security policy, foreign hosts. */
  readonly complaints: string[]
}

export async function openTab(
  browser: Browser,
  { url }: Server,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ baseURL: url, ...options })
  const complaints: string[] = []
  const { host } = new URL(url)
  await context.route(
    (address) => address.host !== host && address.protocol.startsWith('http'),
    (route) => {
      complaints.push(`foreign host: ${route.request().url()}`)
      return route.abort()
    },
  )
  const page = await context.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
  return { page, context, complaints }
}

/** Signs in as a person does, with a key. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.goto('/console/')
  await page.getByLabel('Key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Violations of the rules of WCAG 2.2 A and AA, as `rule: element`. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate<string[]>(`
    axe.run({ runOnly: ${JSON.stringify(TAGS)} }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))
  `)
}

/** Waits until the page shows its data. The stream of events stays open, so the network is never idle. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  // A frame, in which a page that has its data draws what hangs on it.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
}
