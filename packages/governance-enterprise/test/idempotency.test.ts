import { createClock, createTestRemit, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import governance from '../src/index.ts'
import { apiOf, createApi, refusalOf } from './support/api.ts'
import type { Api, CallOptions } from './support/api.ts'
import { open } from './support/approvals.ts'

const pay = (amount_usd: number) => ({
  body: { agent_id: 'payer', action: 'a.b', context: { amount_usd } },
})

// The answers of what writes the ledger are kept in the transaction that writes it.
describe.each(someDialects())('Idempotency-Key of what writes the ledger on %s', (dialect) => {
  let api: Api
  let other: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    api = await createApi({ dialect, clock })
    const { url, signingKey } = api.remit
    const second =
      dialect === 'postgres' &&
      (await createTestRemit({ modules: [governance], url, signingKey, clock }))
    other = second ? apiOf(second, api.org) : api
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 1000 } })
  })
  afterAll(async () => {
    if (other !== api) await other.remit.close()
    await api.remit.close()
  })

  const keyed = (name: string, options: CallOptions) => ({
    ...options,
    headers: { 'idempotency-key': name },
  })
  const held = async () =>
    (await api.ok('getSpendLimit', { params: { id: 'payer' } })).spent.day.held_usd
  const size = async () => (await api.ok('listEntries')).head.seq + 1

  it('decides once: the same answer, one entry, one hold', async () => {
    const [before, entries] = [await held(), await size()]

    const first = await api.call('authorize', keyed('decide', pay(3)))
    const second = await other.call('authorize', keyed('decide', pay(3)))

    const text = await first.text()
    expect(await second.text()).toBe(text)
    expect(second.status).toBe(200)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.headers.get('idempotency-first-request-id')).toBe(
      first.headers.get('x-request-id'),
    )
    expect(await held()).toBe(before + 3)
    expect(await size()).toBe(entries + 1)
  })

  it('decides once for many repeats at the same moment, on every process', async () => {
    const [before, entries] = [await held(), await size()]

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? api : other).call('authorize', keyed('many', pay(3))),
      ),
    )

    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([])
    expect(statuses).toContain(200)
    const bodies = await Promise.all(
      answers.filter(({ status }) => status === 200).map((answer) => answer.text()),
    )
    expect(new Set(bodies).size).toBe(1)
    expect(await held()).toBe(before + 3)
    expect(await size()).toBe(entries + 1)
  })

  it('repeats 201 with its place, also when the same request would answer 200 now', async () => {
    const set = keyed('create', { params: { id: 'created' }, body: { daily_usd: 5 } })
    const first = await api.call('setSpendLimit', set)
    await api.ok('setSpendLimit', { params: { id: 'created' }, body: { daily_usd: 7 } })

    const second = await other.call('setSpendLimit', set)

    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.headers.get('location')).toBe('/v1/spend-limits/created')
    expect(await second.text()).toBe(await first.text())
    expect(await api.ok('getSpendLimit', { params: { id: 'created' } })).toMatchObject({
      daily_usd: 7,
    })
  })

  it('appends once', async () => {
    const append = keyed('append', { body: { action: 'a.b', agent_id: 'appender', cost_usd: 2 } })
    const first = await api.ok('appendEntry', append)

    expect(await other.ok('appendEntry', append)).toEqual(first)
    const { data } = await api.ok('listEntries', { query: { agent_id: 'appender' } })
    expect(data).toHaveLength(1)
  })

  it('409 for another request under the same key, which does nothing', async () => {
    await api.ok('authorize', keyed('taken', pay(1)))
    const entries = await size()

    const answers = [
      await other.refusal('authorize', keyed('taken', pay(2))),
      await other.refusal('appendEntry', keyed('taken', { body: { action: 'a.b' } })),
      await other.refusal(
        'setSpendLimit',
        keyed('taken', { params: { id: 'z' }, body: { daily_usd: 1 } }),
      ),
    ]

    expect(answers.map(({ code }) => code)).toEqual(Array(3).fill('idempotency_mismatch'))
    expect(await size()).toBe(entries)
  })

  it('keeps a denial like any other decision', async () => {
    const first = await api.ok('authorize', keyed('denied', pay(1e6)))

    expect(first.decision).toBe('deny')
    expect(await other.ok('authorize', keyed('denied', pay(1e6)))).toEqual(first)
  })

  it('counts the vote of each key, though both chose the same Idempotency-Key', async () => {
    await api.ok('setApprovalRule', {
      params: { id: 'two' },
      body: { actions: ['two.votes'], required_approvals: 2 },
    })
    const requestID = await open(api, { agent_id: 'payer', action: 'two.votes' })
    const voters = [
      await api.remit.key(api.org.id, 'approver'),
      await api.remit.key(api.org.id, 'approver'),
    ]
    const vote = (key: string | undefined) =>
      other.call('decideApproval', {
        ...keyed('vote', { params: { requestID }, body: { decision: 'approve' } }),
        ...(key !== undefined && { key }),
      })

    expect(await (await vote(voters[0])).json()).toMatchObject({ status: 'pending' })
    expect(await (await vote(voters[1])).json()).toMatchObject({ status: 'approved' })
  })

  it('neither blocks nor answers another key that chose the same one', async () => {
    const key = await api.remit.key(api.org.id, 'ingest')
    const first = await api.ok('authorize', keyed('invoice-4711', pay(1)))

    const same = await other.ok('authorize', { ...keyed('invoice-4711', pay(1)), key })
    const another = await api.remit.key(api.org.id, 'ingest')
    const different = await other.call('authorize', {
      ...keyed('invoice-4711', pay(2)),
      key: another,
    })

    expect(same.decision_id).not.toBe(first.decision_id)
    expect(different.status).toBe(200)
  })

  it('does not store a refusal: the key can be used again', async () => {
    const settle = (decision_id: string) =>
      keyed('refused', { body: { action: 'a.b', decision_id, cost_usd: 1 } })
    expect((await api.refusal('appendEntry', settle('dec_unknown'))).code).toBe(
      'decision_not_found',
    )
    const { decision_id } = await api.ok('authorize', pay(1))

    const response = await api.call('appendEntry', settle(decision_id))

    expect(response.status).toBe(201)
  })

  it('gives no answer to a key that may not ask, also not a kept one', async () => {
    await api.ok('authorize', keyed('guarded', pay(1)))
    const key = await api.remit.key(api.org.id, 'read')

    const response = await api.call('authorize', { ...keyed('guarded', pay(1)), key })

    expect((await refusalOf(response)).code).toBe('role_required')
  })

  it('holds for 24 hours by the clock of the ledger, and not longer', async () => {
    const first = await api.ok('authorize', keyed('day', pay(1)))
    clock.advance(24 * 60 * 60 * 1000 - 1)
    expect(await other.ok('authorize', keyed('day', pay(1)))).toEqual(first)

    clock.advance(1)

    const later = await other.ok('authorize', keyed('day', pay(1)))
    expect(later.decision_id).not.toBe(first.decision_id)
    expect(await api.ok('authorize', keyed('day', pay(1)))).toEqual(later)
  })
})
