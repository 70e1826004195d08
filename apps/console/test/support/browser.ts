import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { openChromium } from '@remit/testing/browser'
import { CHROMIUM, inFullRun } from '@remit/testing/pure'
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
/** All but the pages, which open in every run. */
export const canRunAll: boolean = canRun && inFullRun('the console in Chromium, except its pages,')

/** No name but that of this machine has an address. A route per request would switch off the cache. */
const OFFLINE = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'

export const openBrowser = (): Promise<Browser> => openChromium(OFFLINE)

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
  // Threads of the server have a low priority: they wait long on a busy machine.
  context.setDefaultTimeout(120_000)
  const complaints: string[] = []
  const known = new Set([new URL(url).host, ...hosts])
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (protocol.startsWith('http') && !known.has(host))
      complaints.push(`foreign host: ${request.url()}`)
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
  const field = page.getByLabel('Key', { exact: true })
  // Beside other load, Chromium has once not finished loading the first page.
  await field.waitFor({ timeout: 45_000 }).catch(async () => {
    process.stderr.write(`The page did not finish loading: ${await page.content()}\n`)
    await page.reload()
  })
  await field.fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

/**
 * Makes a tab that was used like a new one for the server. A new browser context would read, decompress
 * and compile the console anew: three times the work of a page.
 */
export async function renew(tab: Tab): Promise<Tab> {
  await tab.page.goto('about:blank')
  await tab.page.unrouteAll({ behavior: 'wait' })
  await tab.context.clearCookies()
  tab.complaints.splice(0)
  return tab
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

/**
 * Opens a page of the console as its links do, without a load, which costs four times as much. Within one
 * section only tabs are opened so.
 */
export async function go(page: Page, path: string): Promise<void> {
  const isTab = path.includes('?tab=')
  const there = /^\/console(\/\w*)/.exec(new URL(page.url()).pathname)?.[1]
  const section = /^\/\w*/.exec(path)?.[0]
  if (there === undefined || (there === section && !isTab)) await page.goto(`/console${path}`)
  else {
    await page.evaluate(`
      document.querySelector('main h1')?.setAttribute('data-left', '')
      history.pushState(null, '', ${JSON.stringify(`/console${path}`)})
      dispatchEvent(new PopStateEvent('popstate'))`)
    const shown = isTab
      ? `nav a[aria-current=page][href="/console${path}"]`
      : 'main h1:not([data-left])'
    await page.locator(shown).waitFor()
  }
  await settled(page)
}

/** Waits for the page with a heading. The address of a link is there before its page is drawn. */
export const arrived = (page: Page, title: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()

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
