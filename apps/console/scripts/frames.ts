/**
 * Measures the frames of the ledger's list while it scrolls through 100,000 entries in Chromium: by wheel, and
 * by a bar that is dragged. `pnpm --filter @remit/console frames`. Nothing else should run meanwhile.
 */
import { openBrowser, openTab, settled, startSession } from '../test/support/browser.ts'
import { writeLongLedger } from '../test/support/long-ledger.ts'
import { createInstallation } from '../test/support/server.ts'

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(q * values.length)] ?? NaN

const ENTRIES = 100_000
const STEPS = 300
/** Two frames at 60 Hz: an interval above is a frame that was missed. */
const MISSED_MS = 25

/** Scrolls the list by one step per frame; returns the milliseconds between the frames. */
const SCROLL = (step: string): string => `(async () => {
  const list = document.querySelector('[role=region][aria-label=Entries]')
  const frame = () => new Promise(requestAnimationFrame)
  const times = []
  list.scrollTo(0, 0)
  for (let i = 0; i < 30; i++) await frame()
  for (let i = 0, before = await frame(); i < ${STEPS}; i++) {
    ${step}
    const now = await frame()
    times.push(now - before)
    before = now
  }
  return times
})()`

const WAYS = [
  ['wheel, 120 px a frame', 'list.scrollBy(0, 120)'],
  ['wheel, 1,200 px a frame', 'list.scrollBy(0, 1_200)'],
  ['bar, the whole list', `list.scrollTo(0, (list.scrollHeight * i) / ${STEPS})`],
] as const

const installation = await createInstallation()
const browser = await openBrowser()
try {
  const key = await writeLongLedger(installation, ENTRIES)
  const server = await installation.start({}, key)
  const tab = await openTab(browser, server)
  await startSession(tab, server, key)
  await tab.page.goto('/console/ledger')
  await settled(tab.page)
  for (const [name, step] of WAYS) {
    const times = await tab.page.evaluate<number[]>(SCROLL(step))
    const total = times.reduce((sum, ms) => sum + ms, 0)
    const missed = times.filter((ms) => ms > MISSED_MS).length
    console.log(
      `${name.padEnd(24)} ${((times.length / total) * 1000).toFixed(1)} frames/s, median ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, ${((100 * missed) / times.length).toFixed(1)} % above ${MISSED_MS} ms`,
    )
  }
} finally {
  await browser.close()
  await installation.remove()
}
