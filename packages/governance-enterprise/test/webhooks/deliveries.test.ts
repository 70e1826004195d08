import { DIALECTS } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Api } from '../support/api.ts'
import { startReceiver, verified } from '../support/receiver.ts'
import { askDenied, createWebhookApi, denyAll, eventually } from '../support/webhooks.ts'

describe.each(DIALECTS)('deliveries for the operator of a receiver on %s', (dialect) => {
  let all: Api
  let api: Api
  beforeAll(async () => {
    all = await createWebhookApi({ dialect })
  })
  beforeEach(async () => {
    api = all.as(await all.remit.organization())
    await denyAll(api)
  })
  afterAll(() => all.remit.close())

  const create = (url: string, more: object = {}) =>
    api.ok('createWebhook', { body: { url, ...more } })
  const list = async (id: string) => (await api.ok('listDeliveries', { params: { id } })).data
  const ended = (id: string, attempts: number) =>
    eventually(async () => {
      const [last] = await list(id)
      return last && last.state !== 'pending' && last.attempts.length === attempts && last
    })

  it('have every attempt, and can be repeated under the same id', async () => {
    await using receiver = await startReceiver()
    const { id } = await create(receiver.url)
    await askDenied(api)
    const [first] = await receiver.until(1)
    const delivered = await ended(id, 1)
    expect(delivered).toEqual({
      id: first?.headers['webhook-id'],
      event: 'authorization.denied',
      created_at: expect.any(String),
      state: 'delivered',
      attempts: [
        { at: expect.any(String), status: 204, error: null, duration_ms: expect.any(Number) },
      ],
      next_attempt_at: null,
    })

    receiver.answer = (response) => response.writeHead(500).end('secret of the receiver')
    const params = { id, deliveryID: delivered.id }
    const response = await api.call('redeliver', { params })
    expect(response.status).toBe(202)
    expect(await response.json()).toMatchObject({ id: delivered.id, state: 'pending' })
    const [, second] = await receiver.until(2)
    expect(second?.headers['webhook-id']).toBe(delivered.id)
    const failing = await eventually(async () => {
      const [one] = await list(id)
      return one?.attempts.length === 2 && one
    })
    expect(failing.attempts[1]).toMatchObject({ status: 500, error: 'http_status' })
    expect(failing).toMatchObject({ state: 'pending', next_attempt_at: expect.any(String) })
    expect(JSON.stringify(failing)).not.toContain('secret')
  })

  it('a test goes to its webhook alone, whatever its events, and leaves an entry', async () => {
    await using receiver = await startReceiver()
    await using other = await startReceiver()
    const { id, secret } = await create(receiver.url, { events: ['approval.requested'] })
    await create(other.url)
    const response = await api.call('testWebhook', { params: { id } })
    expect(response.status).toBe(202)
    const { id: delivery } = (await response.json()) as { id: string }
    const [message] = await receiver.until(1)
    expect(message?.headers['webhook-id']).toBe(delivery)
    const { data } = await api.ok('listEntries', { query: { kind: 'webhook.tested' } })
    expect(verified(secret, message!)).toEqual({
      type: 'webhook.test',
      timestamp: data[0]?.recorded_at,
      data: { webhook_id: id, ledger: { seq: data[0]?.seq, hash: data[0]?.hash } },
    })
    expect(await ended(id, 1)).toMatchObject({ id: delivery, event: 'webhook.test' })
    expect(other.received).toEqual([])
    expect(JSON.stringify(data[0])).not.toContain('whsec_')
  })

  it('are listed newest first, page by page', async () => {
    await using receiver = await startReceiver()
    const { id } = await create(receiver.url)
    for (let n = 0; n < 3; n++) await askDenied(api)
    await receiver.until(3)
    const whole = await list(id)
    const one = await api.ok('listDeliveries', { params: { id }, query: { limit: 2 } })
    const two = await api.ok('listDeliveries', {
      params: { id },
      query: { limit: 2, cursor: one.next_cursor ?? '' },
    })
    expect([...one.data, ...two.data].map((each) => each.id)).toEqual(whole.map((each) => each.id))
    const seqs = whole.map((each) => Number(each.id.split('_').at(-1)))
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a))
    expect(two.next_cursor).toBeNull()
  })

  it('do not exist for others, nor do unknown ones', async () => {
    await using receiver = await startReceiver()
    const { id } = await create(receiver.url)
    await askDenied(api)
    const { id: deliveryID } = await ended(id, 1)
    const other = all.as(await all.remit.organization())
    const mine = await other.ok('createWebhook', { body: { url: receiver.url } })
    const codes = [
      await other.refusal('listDeliveries', { params: { id } }),
      await other.refusal('redeliver', { params: { id, deliveryID } }),
      await other.refusal('redeliver', { params: { id: mine.id, deliveryID } }),
      await other.refusal('testWebhook', { params: { id } }),
      await api.refusal('redeliver', { params: { id, deliveryID: 'msg_1' } }),
      await api.refusal('redeliver', { params: { id, deliveryID: `${deliveryID}0` } }),
      await api.refusal('listDeliveries', { params: { id }, query: { cursor: 'x' } }),
    ].map(({ code }) => code)
    expect(codes).toEqual([
      'webhook_not_found',
      'webhook_not_found',
      'delivery_not_found',
      'webhook_not_found',
      'delivery_not_found',
      'delivery_not_found',
      'invalid_request',
    ])
  })
})
