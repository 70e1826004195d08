import { someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recordExpired } from '../../src/approvals/sweeper.ts'
import type { Api } from '../support/api.ts'
import { ask, decide, open, setRule, TRANSFER } from '../support/approvals.ts'
import { startReceiver, verified } from '../support/receiver.ts'
import type { Message, Receiver } from '../support/receiver.ts'
import { clockOfToday, createWebhookApi, eventually } from '../support/webhooks.ts'

describe.each(someDialects())('events on %s', (dialect) => {
  let all: Api
  let api: Api
  let clock: TestClock
  let receiver: Receiver
  let secret: string | null
  let params: { id: string }
  beforeAll(async () => {
    clock = clockOfToday()
    all = await createWebhookApi({ dialect, clock })
    receiver = await startReceiver()
  })
  beforeEach(async () => {
    clock.set(new Date().toISOString())
    api = all.as(await all.remit.organization())
    const body = { url: `${receiver.url}/${api.org.id}` }
    const webhook = await api.ok('createWebhook', { body })
    params = { id: webhook.id }
    ;({ secret } = webhook)
  })
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]()
    await all.remit.close()
  })

  /** The organization's messages, in the order of their entries, once there are `count` in all. */
  async function messages(count: number): Promise<Message[]> {
    const mine = () => receiver.received.filter(({ path }) => path.endsWith(api.org.id))
    while (mine().length < count) await receiver.until(receiver.received.length + 1)
    return mine()
      .map((one) => verified(secret, one))
      .toSorted((a, b) => seqOf(a) - seqOf(b))
  }
  /** An attempt under way would lose its lease to a clock that leaps. */
  const delivered = () =>
    eventually(async () => (await api.ok('getWebhook', { params })).pending === 0)
  const seqOf = ({ data }: Message) => (data['ledger'] as { seq: number }).seq

  it('an approval has events when it is requested, decided and consumed', async () => {
    await setRule(api)
    const id = await open(api)
    await decide(api, id)
    await ask(api)

    const told = await messages(3)

    expect(told.map(({ type }) => type)).toEqual([
      'approval.requested',
      'approval.decided',
      'approval.consumed',
    ])
    expect(told.map(({ data }) => data)).toMatchObject(
      ['pending', 'approved', 'consumed'].map((status) => ({
        agent_id: TRANSFER.agent_id,
        action: TRANSFER.action,
        approval: { id, status },
      })),
    )
    for (const message of told)
      expect(JSON.stringify(message)).not.toContain(TRANSFER.context.vendor)
  })

  it('and when it expires', async () => {
    await setRule(api, { request_ttl_seconds: 60 })
    const id = await open(api)
    await delivered()
    clock.advance(61_000)

    await recordExpired({ ...all.remit, clock, log: pino({ level: 'silent' }) })

    expect((await messages(2)).map(({ type, data }) => [type, data['approval']])).toMatchObject([
      ['approval.requested', { id, status: 'pending' }],
      ['approval.expired', { id, status: 'expired' }],
    ])
  })

  it('drift of a policy set has an event with its object', async () => {
    const set = { params: { id: 'main' } }
    const document = { apiVersion: 'remit.dev/v1', kind: 'SpendLimit', name: 'of-payer' }
    const documents = [{ ...document, spec: { agent_id: 'payer', daily_usd: 10 } }]
    const { plan_digest } = await api.ok('planPolicySet', { ...set, body: { documents } })
    await api.ok('applyPolicySet', { ...set, body: { documents, plan_digest } })
    await api.ok('removeSpendLimit', { params: { id: 'payer' } })

    const [told] = await messages(1)

    const { data } = await api.ok('listEntries', { query: { kind: 'policy_set.drifted' } })
    expect(told).toEqual({
      type: 'policy_set.drifted',
      timestamp: data[0]?.recorded_at,
      data: {
        set: 'main',
        kind: 'SpendLimit',
        name: 'of-payer',
        object_id: 'payer',
        ledger: { seq: data[0]?.seq, hash: data[0]?.hash },
      },
    })
  })

  it('a spend threshold has an event with the data of its entry', async () => {
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { monthly_usd: 10 } })
    await api.ok('appendEntry', { body: { action: 'a.b', agent_id: 'payer', cost_usd: 8.5 } })

    const told = await messages(2)

    const window = new Date(clock.now()).toISOString().slice(0, 7)
    const { data: entries } = await api.ok('listEntries', {
      query: { kind: 'spend.threshold', order: 'asc' },
    })
    expect(told).toEqual(
      [50, 80].map((threshold_percent, i) => ({
        type: 'spend.threshold',
        timestamp: entries[i]?.recorded_at,
        data: {
          agent_id: 'payer',
          window,
          threshold_percent,
          limit_usd: 10,
          spent_usd: 8.5,
          ledger: { seq: entries[i]?.seq, hash: entries[i]?.hash },
        },
      })),
    )
  })
})
