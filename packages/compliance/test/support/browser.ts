import { CHROMIUM_ARGS } from '@remit/testing/pure'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: CHROMIUM_ARGS })
