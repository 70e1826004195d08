/**
 * Writes `docs/images/console-light.png` and `console-dark.png`: starts a server, records the work of a
 * few agents and takes pictures of two pages.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openBrowser, openTab, settled, signIn } from '../test/support/browser.ts'
import { startServer } from '../test/support/server.ts'
import { recordWork } from './sample-work.ts'

const IMAGES = resolve(import.meta.dirname, '../../../docs/images')
const VIEWPORT = { width: 1280, height: 760 }

const server = await startServer()
const browser = await openBrowser()
try {
  await recordWork(server.api)
  // The charts show decisions some seconds after they are made.
  while ((await server.api.getStats()).data.length === 0) await pause(200)
  await mkdir(IMAGES, { recursive: true })
  for (const [colorScheme, path] of [
    ['light', '/approvals'],
    ['dark', '/'],
  ] as const) {
    const { page } = await openTab(browser, server, { colorScheme, viewport: VIEWPORT })
    await signIn(page, server.key)
    await page.goto(`/console${path}`)
    await settled(page)
    await writeFile(join(IMAGES, `console-${colorScheme}.png`), await page.screenshot())
  }
} finally {
  await browser.close()
  await server.stop()
}
