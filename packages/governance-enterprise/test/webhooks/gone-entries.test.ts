import { eraseEntries } from '@remit/core/orgs'
import { prune, someDialects } from '@remit/testing'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { DeliveryRow } from '../../src/tables/webhooks.ts'
import { startReceiver } from '../support/receiver.ts'
import {
  askDenied,
  clockOfToday,
  createWebhookApi,
  denyAll,
  eventually,
  withoutWorkers,
} from '../support/webhooks.ts'

const DAY = 86_400_000

describe.each(someDialects())('a message about an entry that is gone, on %s', (dialect) => {
  it.each(['erased', 'pruned'] as const)('%s: is given up and never sent', async (how) => {
    await using receiver = await startReceiver()
    const clock = clockOfToday()
    const now = clock.now()
    clock.set(new Date(now - 402 * DAY).toISOString())
    const api = await createWebhookApi({ dialect, clock, modules: [withoutWorkers] })
    await denyAll(api)
    await api.ok('createWebhook', { body: { url: receiver.url } })
    const { ledger } = await askDenied(api)
    clock.advance(60_000)
    await api.ok('appendEntry', { body: { action: 'later' } })
    clock.set(new Date(now).toISOString())

    if (how === 'pruned') await prune(api, clock)
    else await eraseEntries(api.remit, api.org.id, { seqs: [ledger.seq], reason: 'asked for' })
    const { url, signingKey } = api.remit
    const next = await createWebhookApi({ url, signingKey, clock })

    const [row] = await eventually(async () => {
      const { rows } = await sql<DeliveryRow>`select * from webhook_delivery`.execute(next.remit.db)
      return rows[0]?.state === 'failed' && rows
    })
    expect(row).toMatchObject({ seq: ledger.seq, state: 'failed', error: `entry_${how}` })
    expect(receiver.received).toEqual([])
    await next.remit.close()
    await api.remit.close()
  })
})
