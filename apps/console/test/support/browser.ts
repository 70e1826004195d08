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

export const canLaunch: boolean = CHROMIUM !== null
export const canRun: boolean = isWhole && canLaunch
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

interface TabOptions extends BrowserContextOptions {
  /** Hosts beside the server's own that may be asked. */
  readonly hosts?: readonly string[]
}

export async function openTab(
  browser: Browser,
  { url }: Pick<Server, 'url'>,
  { hosts = [], ...options }: TabOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ baseURL: url, ...options })
  const complaints: string[] = []
  const known = new Set([new URL(url).host, ...hosts])
  const isForeign = ({ protocol, host }: URL) => protocol.startsWith('http') && !known.has(host)
  await context.route(isForeign, (route) => route.abort())
  // Routes do not see where a redirect leads.
  context.on('request', (request) => {
    if (isForeign(new URL(request.url()))) complaints.push(`foreign host: ${request.url()}`)
  })
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

/** Signs in without the page, for tests of what comes after. */
export async function startSession({ context }: Tab, { url }: Server, key: string): Promise<void> {
  const response = await context.request.post(`${url}/v1/session`, {
    data: { key },
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  if (!response.ok()) throw new Error(`the key was refused: ${await response.text()}`)
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WCAG = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
}
/** The rules whose outcome can change with the color scheme; the document is the same in both. */
const COLORS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/** Violations of rules of WCAG 2.2 A and AA, as `rule: element`. */
export async function violationsOf(page: Page, rules: 'all' | 'colors' = 'all'): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(AXE)
  const options = { runOnly: rules === 'all' ? WCAG : COLORS, resultTypes: ['violations'] }
  return page.evaluate<string[]>(`
    axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))
  `)
}

/** Violations in the light and in the dark scheme. The tab stays in the dark one. */
export async function violationsInBoth(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await violationsOf(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await violationsOf(page, 'colors')
  return [...light, ...dark.map((violation) => `dark: ${violation}`)]
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
