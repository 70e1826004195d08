import { existsSync } from 'node:fs'

/**
 * Path of an installed Chromium; null if there is none. `REMIT_TEST_CHROMIUM` comes first, then the one
 * without windows, which needs two thirds of the computing time.
 */
export const CHROMIUM: string | null =
  [
    process.env.REMIT_TEST_CHROMIUM ?? '',
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find((path) => existsSync(path)) ?? null

export const CHROMIUM_ARGS: string[] = [
  // Tests run as root in containers, where the sandbox of Chromium does not start.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  // Fewer processes to start, by a sixth of the computing time. Origins stay apart.
  '--renderer-process-limit=1',
  '--process-per-site',
  '--in-process-gpu',
]
