import { fullDialects } from '@remit/testing'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { DeliveryRow } from '../../src/tables/webhooks.ts'
import type { Api } from '../support/api.ts'
import { startReceiver, verified } from '../support/receiver.ts'
import {
  askDenied,
  clockOfToday,
  createWebhookApi,
  denyAll,
  DENIED,
  eventually,
  withoutWorkers,
} from '../support/webhooks.ts'

const DAY = 86_400_000

/** From now on nothing can be inserted into the table. */
async function refuseInserts(api: Api, dialect: string, table: string): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(api.remit.db)
  if (dialect === 'sqlite') {
    await run(
      `create trigger no_insert before insert on ${table} begin select raise(abort, 'no'); end`,
    )
    return
  }
  await run(
    `create function no_insert() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`,
  )
  await run(`create trigger no_insert before insert on ${table} execute function no_insert()`)
}

const rows = async (api: Api) => {
  const { rows: found } = await sql<DeliveryRow>`select * from webhook_delivery`.execute(
    api.remit.db,
  )
  return found
}

const denials = async (api: Api) =>
  (await api.ok('listEntries', { query: { kind: 'authorization.decided' } })).data.length

describe.each(fullDialects())('the outbox on %s', (dialect) => {
  const open = async () => {
    const api = await createWebhookApi({
      dialect,
      clock: clockOfToday(),
      modules: [withoutWorkers],
    })
    await denyAll(api)
    await api.ok('createWebhook', { body: { url: 'http://127.0.0.1:1/' } })
    return api
  }

  it('has a row for every entry with an event, and none for others', async () => {
    const api = await open()

    const { ledger } = await askDenied(api)
    await api.ok('authorize', { body: { agent_id: 'free', action: 'a.b' } })

    expect(await rows(api)).toMatchObject([{ seq: ledger.seq, state: 'waiting', attempts: 0 }])
    await api.remit.close()
  })

  it('a row that cannot be written takes the entry with it', async () => {
    const api = await open()
    await refuseInserts(api, dialect, 'webhook_delivery')

    const response = await api.call('authorize', { body: DENIED })

    expect(response.status).toBe(503)
    expect([await denials(api), await rows(api)]).toEqual([0, []])
    await api.remit.close()
  })

  it('a commit that fails after the row was written leaves neither row nor entry', async () => {
    const api = await open()
    // The answer for an Idempotency-Key is what a transaction writes last.
    await refuseInserts(api, dialect, 'idempotency_key')

    const response = await api.call('authorize', {
      body: DENIED,
      headers: { 'idempotency-key': 'a' },
    })

    expect(response.status).toBe(503)
    expect([await denials(api), await rows(api)]).toEqual([0, []])
    await api.remit.close()
  })

  it('a process that dies between commit and delivery leaves the message to the next', async () => {
    await using receiver = await startReceiver()
    const api = await createWebhookApi({ dialect, modules: [withoutWorkers] })
    await denyAll(api)
    const { secret } = await api.ok('createWebhook', { body: { url: receiver.url } })
    const { decision_id } = await askDenied(api)
    expect(receiver.received).toEqual([])

    const { url, signingKey } = api.remit
    const next = await createWebhookApi({ url, signingKey })

    const [message] = await receiver.until(1)
    expect(verified(secret, message!).data).toMatchObject({ decision_id })
    await next.remit.close()
    await api.remit.close()
  })

  it('messages of a disabled webhook are not sent', async () => {
    await using receiver = await startReceiver()
    const api = await createWebhookApi({ dialect, modules: [withoutWorkers] })
    await denyAll(api)
    await api.ok('createWebhook', { body: { url: receiver.url } })
    await askDenied(api)
    await sql`update webhook set enabled = 0`.execute(api.remit.db)

    const { url, signingKey } = api.remit
    const next = await createWebhookApi({ url, signingKey })

    const [row] = await eventually(async () => {
      const found = await rows(api)
      return found[0]?.state === 'failed' && found
    })
    expect(row).toMatchObject({ attempts: 1, error: 'disabled' })
    expect(receiver.received).toEqual([])
    await next.remit.close()
    await api.remit.close()
  })

  it('a process that stops waits for its attempts, so that they are not made again', async () => {
    await using receiver = await startReceiver()
    const api = await createWebhookApi({ dialect, modules: [withoutWorkers] })
    await denyAll(api)
    await api.ok('createWebhook', { body: { url: receiver.url } })
    const { url, signingKey } = api.remit
    const stopping = await createWebhookApi({ url, signingKey })
    receiver.answer = (response) => void setTimeout(() => response.writeHead(200).end(), 500)
    await askDenied(api)
    await receiver.until(1)

    await stopping.remit.close()

    expect(await rows(api)).toMatchObject([{ state: 'delivered', attempts: 1 }])
    await api.remit.close()
  })

  it('a process that dies during an attempt holds the message for no longer than its lease', async () => {
    await using receiver = await startReceiver()
    const clock = clockOfToday()
    const api = await createWebhookApi({ dialect, clock, modules: [withoutWorkers] })
    await denyAll(api)
    const { id } = await api.ok('createWebhook', { body: { url: receiver.url } })
    const { url, signingKey } = api.remit
    receiver.answer = () => undefined
    const dying = await createWebhookApi({ url, signingKey, clock })
    await askDenied(api)
    await receiver.until(1)
    receiver.answer = (response) => response.writeHead(500).end()

    const next = await createWebhookApi({ url, signingKey, clock })
    clock.advance(61_000)

    await receiver.until(2)
    const failed = { attempts: 2, http_status: 500, error: 'http_status' }
    const last = await eventually(async () => {
      const { last_delivery } = await api.ok('getWebhook', { params: { id } })
      return last_delivery?.error != null && last_delivery
    })
    expect(last).toMatchObject({ status: 'retrying', ...failed })
    // The result of the first attempt has no effect.
    await dying.remit.close()
    expect(await rows(api)).toMatchObject([{ state: 'waiting', ...failed }])
    await next.remit.close()
    await api.remit.close()
  })

  it('finished messages are forgotten after 7 days, waiting ones are not', async () => {
    await using receiver = await startReceiver()
    const clock = clockOfToday()
    const api = await createWebhookApi({ dialect, clock })
    await denyAll(api)
    const { id } = await api.ok('createWebhook', { body: { url: receiver.url } })
    await askDenied(api)
    await eventually(async () => (await rows(api)).every((row) => row.state === 'delivered'))
    const { url, signingKey } = api.remit

    clock.advance(7 * DAY - 1000)
    const early = await createWebhookApi({ url, signingKey, clock })
    await early.remit.close()
    expect(await rows(api)).toHaveLength(1)
    receiver.answer = (response) => response.writeHead(500).end()
    await askDenied(api)
    await receiver.until(2)
    clock.advance(2000)
    const late = await createWebhookApi({ url, signingKey, clock })

    const left = await eventually(async () => {
      const found = await rows(api)
      return found.length === 1 && found
    })
    expect(left).toMatchObject([{ webhook_id: id, state: 'waiting' }])
    await late.remit.close()
    await api.remit.close()
  })
})
