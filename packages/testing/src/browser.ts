import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { CHROMIUM } from './pure.ts'

const ARGS: readonly string[] = [
  // Tests run as root in containers, where the sandbox of Chromium does not start.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  // Fewer processes to start, by a sixth of the computing time. Origins stay apart.
  '--renderer-process-limit=1',
  '--process-per-site',
  '--in-process-gpu',
]

const ATTEMPTS = 3

/** Starts the installed Chromium. It crashes at some starts on a busy machine, so a failed start is repeated. */
export async function openChromium(...more: readonly string[]): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('no Chromium is installed')
  for (let attempt = 1; ; attempt++) {
    try {
      return await chromium.launch({ executablePath: CHROMIUM, args: [...ARGS, ...more] })
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
  }
}
