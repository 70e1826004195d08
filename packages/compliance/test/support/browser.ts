import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

/** A Chromium that is installed here; null where there is none. */
export const CHROMIUM: string | null =
  [
    process.env.REMIT_TEST_CHROMIUM ?? '',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find((path) => existsSync(path)) ?? null

export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    // Tests run as root in containers, where the sandbox of Chromium cannot.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
