import { isoTime } from '@remit/core/base'
import { createOutbound } from '@remit/core/net'
import { someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Api } from '../support/api.ts'
import { startReceiver, verified } from '../support/receiver.ts'
import {
  askDenied,
  clockOfToday,
  createWebhookApi,
  denyAll,
  DENIED,
  eventually,
} from '../support/webhooks.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe.each(someDialects())('deliveries on %s', (dialect) => {
  let all: Api
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = clockOfToday()
    all = await createWebhookApi({ dialect, clock })
  })
  beforeEach(async () => {
    clock.set(new Date().toISOString())
    api = all.as(await all.remit.organization())
    await denyAll(api)
  })
  afterAll(() => all.remit.close())

  const create = (url: string, more: object = {}) =>
    api.ok('createWebhook', { body: { url, ...more } })
  const look = (id: string) => api.ok('getWebhook', { params: { id } })
  const settled = (id: string) =>
    eventually(async () => {
      const { pending, last_delivery } = await look(id)
      return pending === 0 && last_delivery?.status !== 'retrying' && last_delivery
    })

  it('sends a signed denial, with the facts of its entry and without its context', async () => {
    await using receiver = await startReceiver()
    const { id, secret } = await create(`${receiver.url}?a=b`)

    const { decision_id, ledger, decided_at } = await askDenied(api)

    const [message] = await receiver.until(1)
    expect(message).toMatchObject({
      path: '/hook?a=b',
      headers: {
        'content-type': 'application/json',
        'webhook-id': `msg_${api.org.id.slice(4)}_${ledger.seq}`,
        'webhook-timestamp': String(Math.floor(clock.now() / 1000)),
      },
    })
    expect(verified(secret, message!)).toEqual({
      type: 'authorization.denied',
      timestamp: decided_at,
      data: {
        ...DENIED,
        decision_id,
        decision: 'deny',
        reason: 'spend_limit_daily',
        matched: [{ kind: 'spend_limit', id: 'denied' }],
        spend: expect.any(Object) as object,
        ledger: { seq: ledger.seq, hash: ledger.hash },
      },
    })
    expect(message!.body).not.toContain('private')
    expect(await settled(id)).toEqual({
      message_id: message!.headers['webhook-id'],
      event: 'authorization.denied',
      status: 'delivered',
      at: isoTime(clock.now()),
      attempts: 1,
      http_status: 204,
      error: null,
    })
  })

  it('each webhook gets its subscribed events, signed with its own secret', async () => {
    await using receiver = await startReceiver()
    await using other = await startReceiver()
    const both = await create(receiver.url)
    const denials = await create(other.url, { events: ['authorization.denied'] })
    await create(other.url, { events: ['approval.requested'] })
    await create(other.url, { enabled: false })

    await askDenied(api)
    await api.ok('authorize', { body: { agent_id: 'free', action: 'a.b' } })
    await askDenied(api)

    const types = [...(await receiver.until(2))].map((one) => verified(both.secret, one).type)
    expect(types).toEqual(['authorization.denied', 'authorization.denied'])
    for (const one of await other.until(2)) {
      expect(verified(denials.secret, one).type).toBe('authorization.denied')
      expect(() => verified(both.secret, one)).toThrow('No matching signature')
    }
    expect([receiver.received.length, other.received.length]).toEqual([2, 2])
  })

  it('does not let a message wait for the next look at the outbox', async () => {
    await using receiver = await startReceiver()
    await create(receiver.url)
    const times: number[] = []

    for (let count = 1; count <= 12; count++) {
      const started = performance.now()
      await askDenied(api)
      await receiver.until(count)
      times.push(performance.now() - started)
    }

    // Without a signal, every message waits for the next poll, 2 seconds. A busy machine delays some.
    expect(Math.min(...times)).toBeLessThan(1_500)
  })

  it('tries again with the same message under a new time, ever more slowly, until it is taken', async () => {
    await using receiver = await startReceiver()
    receiver.answer = (response, nth) => response.writeHead(nth < 4 ? 503 : 200).end('no')
    const { id, secret } = await create(receiver.url)

    await askDenied(api)
    for (const [attempts, wait] of [
      [1, 7_000],
      [2, 19_000],
      [3, 57_000],
    ] as const) {
      await receiver.until(attempts)
      expect(
        await eventually(async () => {
          const found = await look(id)
          return found.last_delivery?.error != null && found
        }),
      ).toMatchObject({
        pending: 1,
        last_delivery: { status: 'retrying', attempts, http_status: 503, error: 'http_status' },
      })
      clock.advance(wait)
      await receiver.until(attempts + 1)
    }

    const last = await settled(id)
    expect(last).toMatchObject({ status: 'delivered', attempts: 4, http_status: 200, error: null })
    const { received } = receiver
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    for (const { headers, body } of received) {
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      const signature = new Webhook(secret ?? '').sign(headers['webhook-id'] ?? '', at, body)
      expect(headers['webhook-signature']).toBe(signature)
    }
    const times = received.map(({ headers }) => Number(headers['webhook-timestamp']))
    expect(times.map((time) => time - times[0]!)).toEqual([0, 7, 26, 83])
  })

  it('does not try again before it is time', async () => {
    await using receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(500).end()
    const { id } = await create(receiver.url)
    await askDenied(api)
    await receiver.until(1)
    await eventually(async () => (await look(id)).last_delivery?.http_status === 500)

    clock.advance(3_000)
    await askDenied(api)
    await receiver.until(2)

    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(2)
  })

  it('gives up after 24 hours', async () => {
    await using receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(404).end()
    const { id } = await create(receiver.url)
    await askDenied(api)
    await receiver.until(1)
    await eventually(async () => (await look(id)).last_delivery?.http_status === 404)

    clock.advance(24 * HOUR)

    expect(await settled(id)).toMatchObject({ status: 'failed', attempts: 2, error: 'http_status' })
    clock.advance(24 * HOUR)
    await askDenied(api)
    await receiver.until(3)
    expect(receiver.received).toHaveLength(3)
  })

  it('a receiver that responds 410 is disabled, and the ledger records it', async () => {
    await using receiver = await startReceiver()
    receiver.answer = (response, nth) => response.writeHead(nth === 1 ? 500 : 410).end()
    const { id } = await create(receiver.url)
    await askDenied(api)
    await receiver.until(1)
    await askDenied(api)
    await receiver.until(2)

    const webhook = await eventually(async () => {
      const found = await look(id)
      return !found.enabled && found
    })

    expect(webhook).toMatchObject({ disabled_reason: 'gone', pending: 0 })
    expect(webhook.last_delivery).toMatchObject({
      status: 'failed',
      http_status: 410,
      error: 'gone',
    })
    const { data } = await api.ok('listEntries', { query: { kind: 'webhook.disabled' } })
    expect(data).toMatchObject([
      {
        actor: { type: 'system' },
        data: { webhook: { id, enabled: false, disabled_reason: 'gone' } },
      },
    ])
    clock.advance(HOUR)
    await askDenied(api)
    expect(await look(id)).toMatchObject({ pending: 0 })
    expect(receiver.received).toHaveLength(2)
  })

  it('a removed webhook gets nothing more', async () => {
    await using receiver = await startReceiver()
    await using witness = await startReceiver()
    receiver.answer = (response) => response.writeHead(500).end()
    const { id } = await create(receiver.url)
    await create(witness.url)
    await askDenied(api)
    await receiver.until(1)

    await api.ok('deleteWebhook', { params: { id } })
    clock.advance(HOUR)
    await askDenied(api)
    await witness.until(2)

    expect(receiver.received).toHaveLength(1)
    const left = sql`select 1 from webhook_delivery
      where org_id = ${all.org.id} and webhook_id = ${id}`
    expect((await left.execute(all.remit.db)).rows).toEqual([])
  })

  it('follows no redirect, and shows no text of a receiver', async () => {
    await using receiver = await startReceiver()
    await using inside = await startReceiver()
    // Longer than what a random id could contain.
    const text = 'text of the receiver'
    receiver.answer = (response) =>
      response.writeHead(307, text, { location: inside.url, 'x-text': text }).end(text)
    const { id } = await create(receiver.url)

    await askDenied(api)

    await receiver.until(1)
    const webhook = await eventually(async () => {
      const found = await look(id)
      return found.last_delivery?.error != null && found
    })
    expect(webhook.last_delivery).toMatchObject({ http_status: null, error: 'redirected' })
    expect(JSON.stringify(webhook)).not.toContain(text)
    expect(inside.received).toEqual([])
  })

  it('an organization that waits for slow receivers does not keep others waiting', async () => {
    await using slow = await startReceiver()
    await using quick = await startReceiver()
    slow.answer = () => undefined
    const other = all.as(await all.remit.organization())
    await denyAll(other)
    await create(slow.url)
    await other.ok('createWebhook', { body: { url: quick.url } })
    await Promise.all(Array.from({ length: 250 }, () => askDenied(api)))
    await slow.until(8)

    await askDenied(other)
    await quick.until(1)

    // Its place is not one that a slow receiver left.
    expect(slow.received.length).toBeLessThan(16)
  })
})

it('a name that resolves to an internal address is not called, whatever it resolved to before', async () => {
  await using receiver = await startReceiver()
  const addresses = ['93.184.215.14']
  const resolve = () => Promise.resolve(addresses.map((address) => ({ address, family: 4 })))
  const clock = clockOfToday()
  const outbound = createOutbound({ allowLoopback: true, resolve })
  const api = await createWebhookApi({ clock, outbound })
  await denyAll(api)
  const { port } = new URL(receiver.url)
  const url = `https://hooks.example.com:${port}/`
  const { id } = await api.ok('createWebhook', { body: { url } })

  addresses.splice(0, 1, '127.0.0.1')
  await askDenied(api)

  const last = await eventually(async () => {
    const { last_delivery } = await api.ok('getWebhook', { params: { id } })
    return last_delivery?.error && last_delivery
  })
  expect(last).toMatchObject({ status: 'retrying', http_status: null, error: 'address_refused' })
  expect(receiver.received).toEqual([])
  await api.remit.close()
})
