/**
 * Writes `docs/images/console-light.png` and `console-dark.png`: starts a server, records the work of a
 * few agents and takes pictures of two pages.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { AuthorizeBody, Client } from '@remit/contract'
import { openBrowser, openTab, settled, signIn } from '../test/support/browser.ts'
import { startServer } from '../test/support/server.ts'

const REQUESTS: readonly AuthorizeBody[] = [
  { agent_id: 'payer', action: 'payments.transfer', context: { amount_usd: 64.2, vendor: 'ACME' } },
  { agent_id: 'support-bot', action: 'tickets.reply', context: { channel: 'email' } },
  { agent_id: 'support-bot', action: 'payments.refund', context: { amount_usd: 38.5 } },
  { agent_id: 'deploy-agent', action: 'deploy.staging', context: { commit: 'a1b2c3d' } },
  { agent_id: 'deploy-agent', action: 'db.drop_table' },
  { agent_id: 'research', action: 'web.fetch', context: { host: 'example.com' } },
]
const ROUNDS = 12

/** A few agents at work under a few rules. */
async function recordWork(api: Client): Promise<void> {
  for (const id of ['payer', 'support-bot', 'deploy-agent'])
    await api.registerAgent({ body: { agent_id: id, owners: [{ type: 'user', id: 'ada' }] } })
  await api.setSpendLimit({ params: { id: 'payer' }, body: { daily_usd: 5000 } })
  await api.setSpendLimit({ params: { id: 'support-bot' }, body: { daily_usd: 2500 } })
  await api.createPolicy({
    body: { effect: 'deny', actions: ['db.drop*'], description: 'No destructive actions' },
  })
  await api.setApprovalRule({
    params: { id: 'large-refunds' },
    body: {
      description: 'Refunds above 500 USD need a second pair of eyes',
      actions: ['payments.refund'],
      condition: 'amount_usd > 500.0',
    },
  })
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, body] of REQUESTS.entries())
      await api.authorize({ body: { ...body, resource: `order:${1000 + round * 10 + i}` } })
  for (const [order, amount, reason] of [
    ['8841', 840.5, 'Arrived broken, second complaint'],
    ['8790', 620, 'Double charge'],
  ] as const)
    await api.authorize({
      body: {
        agent_id: 'support-bot',
        action: 'payments.refund',
        resource: `order:${order}`,
        context: { amount_usd: amount, customer: 'cus_2291', reason },
      },
    })
}

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
