/**
 * Measures how long the vote of one person takes to appear in the browser of another, and so the quorum:
 * `pnpm --filter @remit/console quorum`. Nothing else should run meanwhile.
 */
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openTab, settled, startSession } from '../test/support/browser.ts'
import { startServer } from '../test/support/server.ts'
import type { Server } from '../test/support/server.ts'

const ROUNDS = 20
/** Milliseconds in which the other browser must show it. */
const GOAL_MS = 1_000
const DONE = 'Nothing waits for a decision'

const server = await startServer()
const browsers = await Promise.all([openBrowser(), openBrowser()])
try {
  await server.api.setApprovalRule({
    params: { id: 'refunds' },
    body: { actions: ['payments.refund'], required_approvals: 2 },
  })
  const [first, second] = await Promise.all([
    openAs(browsers[0], server, 'ada@example.com'),
    openAs(browsers[1], server, 'bob@example.com'),
  ])
  const delays = { vote: [] as number[], quorum: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    await server.api.authorize({
      body: { agent_id: 'support-bot', action: 'payments.refund', context: { round } },
    })
    await Promise.all([first, second].map((page) => page.getByText('0 of 2').waitFor()))
    delays.vote.push(await untilSeen(first, second, '1 of 2'))
    delays.quorum.push(await untilSeen(second, first, DONE))
    await second.getByText(DONE).waitFor()
  }
  for (const [name, times] of Object.entries(delays)) {
    const sorted = times.toSorted((a, b) => a - b)
    console.log(
      `${name.padEnd(8)} median ${sorted[ROUNDS >> 1]?.toFixed(0)} ms, at most ${sorted.at(-1)?.toFixed(0)} ms of ${ROUNDS}`,
    )
    if ((sorted.at(-1) ?? Infinity) >= GOAL_MS) process.exitCode = 1
  }
} finally {
  await Promise.all(browsers.map((browser) => browser.close()))
  await server.stop()
}

async function openAs(browser: Browser, { api, ...rest }: Server, person: string): Promise<Page> {
  const { secret } = await api.createKey({ body: { role: 'approver', person } })
  const tab = await openTab(browser, rest)
  await startSession(tab, { api, ...rest }, secret ?? '')
  await tab.page.goto('/console/approvals')
  await tab.page.getByText(DONE).waitFor()
  await settled(tab.page)
  return tab.page
}

/** Approves in one browser; returns the milliseconds until the other one shows the text. */
async function untilSeen(voter: Page, other: Page, text: string): Promise<number> {
  await voter.getByRole('button', { name: 'Approve' }).first().click()
  await voter.getByRole('dialog', { name: 'Approve this request' }).waitFor()
  const seen = other.getByText(text).waitFor()
  const began = performance.now()
  await voter.keyboard.press('Control+Enter')
  await seen
  return performance.now() - began
}
