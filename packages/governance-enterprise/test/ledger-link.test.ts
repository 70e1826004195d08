import { SYSTEM } from '@remit/core/caller'
import { OPERATOR } from '@remit/core/orgs'
import { createClock, handMade, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

describe.each(someDialects())('entries that name a decision, on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock('2026-11-20T08:00:00.000Z')
    api = await createApi({ dialect, clock })
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 100 } })
  })
  afterAll(() => api.remit.close())

  const ask = async (amount_usd: number, agent_id = 'payer') => {
    clock.advance(1_500)
    const body = { agent_id, action: 'payments.pay', context: { amount_usd } }
    return api.ok('authorize', { body })
  }
  const append = (body: object) => ({ body: { action: 'payments.paid', ...body } })
  const day = async () => {
    const { spent } = await api.ok('getSpendLimit', { params: { id: 'payer' } })
    const { usd, held_usd } = spent.day
    return { usd, held_usd }
  }
  const listed = async (query: Record<string, string>) => {
    const { data } = await api.ok('listEntries', { query: { order: 'asc', ...query } })
    return data
  }

  it('link to it as often as wanted, and its hold stays', async () => {
    const before = await day()
    const { decision_id } = await ask(10)
    for (let i = 0; i < 3; i++) {
      const entry = await api.ok('appendEntry', append({ decision_id, outcome: 'unknown' }))
      expect(entry).toMatchObject({ agent_id: 'payer', data: { decision_id } })
    }
    expect(await day()).toEqual({ ...before, held_usd: before.held_usd + 10 })
    await api.ok('appendEntry', append({ decision_id, cost_usd: 4 }))
    await api.ok('appendEntry', append({ decision_id, outcome: 'success' }))
    expect(await day()).toEqual({ ...before, usd: before.usd + 4 })
  })

  it('link to a denial too, however long ago it was', async () => {
    const denied = await ask(1_000)
    expect(denied.decision).toBe('deny')
    clock.advance(3_600_000)
    for (let i = 0; i < 5; i++) await ask(0, 'other')

    const entry = await api.ok('appendEntry', append({ decision_id: denied.decision_id }))
    expect(entry).toMatchObject({ agent_id: 'payer', data: { decision_id: denied.decision_id } })
    const { code } = await api.refusal(
      'appendEntry',
      append({ decision_id: denied.decision_id, cost_usd: 1 }),
    )
    expect(code).toBe('decision_not_found')
  })

  it('are refused for a decision that is not there, or is another organization’s', async () => {
    const { decision_id } = await ask(1)
    const other = api.as(await api.remit.organization())
    const changed = `${decision_id.slice(0, -1)}${decision_id.endsWith('0') ? '1' : '0'}`
    for (const [on, id] of [
      [other, decision_id],
      [api, changed],
      [api, 'dec_1'],
      [api, `dec_${'z'.repeat(26)}`],
    ] as const) {
      const { code } = await on.refusal('appendEntry', append({ decision_id: id }))
      expect(code).toBe('decision_not_found')
    }
    const { errors } = await api.refusal('appendEntry', append({ decision_id, agent_id: 'other' }))
    expect(errors?.[0]?.path).toBe('agent_id')
  })

  it('to unknown decisions are searched few at a time; beyond, 429, without an effect on other requests', async () => {
    const { decision_id } = await ask(1)
    const entry = handMade({ kind: 'test.said', actor: SYSTEM, data: {} })
    await api.remit.writer.work(api.org.id, OPERATOR, () =>
      Promise.resolve({
        entries: Array.from({ length: 1_000 }, () => entry),
        reply: () => undefined,
      }),
    )
    const changed = `${decision_id.slice(0, -1)}${decision_id.endsWith('0') ? '1' : '0'}`
    const other = api.as(await api.remit.organization())
    const linked = Array.from({ length: 200 }, () =>
      api.call('appendEntry', append({ decision_id: changed })),
    )
    const others = other.refusal('appendEntry', append({ decision_id: changed }))
    const statuses = (await Promise.all(linked)).map(({ status }) => status)

    expect(new Set(statuses)).toEqual(new Set([404, 429]))
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThan(60)
    expect((await others).code).toBe('decision_not_found')
    const { data } = await api.ok('appendEntry', append({ decision_id }))
    expect(data).toMatchObject({ decision_id })
  })

  it('settle at the amount held, or release it, without a figure', async () => {
    const before = await day()
    const [first, second] = [await ask(12.5), await ask(7)]
    const held = await api.ok(
      'appendEntry',
      append({ decision_id: first.decision_id, settle: 'held' }),
    )
    expect(held.data).toMatchObject({ settle: 'held', cost_usd: 12.5 })
    const released = await api.ok(
      'appendEntry',
      append({ decision_id: second.decision_id, settle: 'release' }),
    )
    expect(released.data).toMatchObject({ settle: 'release', cost_usd: 0 })
    expect(await day()).toEqual({ ...before, usd: before.usd + 12.5 })
    for (const settle of ['held', 'release']) {
      const again = append({ decision_id: first.decision_id, settle })
      expect((await api.refusal('appendEntry', again)).code).toBe('decision_settled')
    }
  })

  it.each([
    ['settle without a decision', { settle: 'held' }, 'decision_id'],
    ['settle beside a cost', { settle: 'held', decision_id: 'dec_1', cost_usd: 1 }, 'settle'],
    ['another settle', { settle: 'all', decision_id: 'dec_1' }, 'settle'],
  ])('%s is 400', async (_what, body, path) => {
    const { errors } = await api.refusal('appendEntry', append(body))
    expect(errors?.map((error) => error.path)).toContain(path)
  })

  it('are found by decision_id, with the decision itself', async () => {
    const { decision_id } = await ask(1)
    const { decision_id: other } = await ask(1)
    clock.advance(86_400_000)
    await api.ok('appendEntry', append({ decision_id, metadata: { n: 1 } }))
    await api.ok('appendEntry', append({ decision_id: other }))
    await api.ok('appendEntry', append({ metadata: { data: { decision_id } } }))
    await api.ok('appendEntry', append({ decision_id, settle: 'held' }))

    expect((await listed({ decision_id })).map(({ kind }) => kind)).toEqual([
      'authorization.decided',
      'entry.appended',
      'entry.appended',
    ])
    expect(await listed({ decision_id, kind: 'entry.appended' })).toHaveLength(2)
    expect(await listed({ decision_id: 'dec_x' })).toEqual([])
  })

  it('are searched for few at a time: beyond, 429, and others are not', async () => {
    const { decision_id } = await ask(1)
    const other = api.as(await api.remit.organization())
    for (const query of [{ decision_id }, { trace_id: 'nowhere' }]) {
      const own = Array.from({ length: 400 }, () => api.call('listEntries', { query }))
      const others = other.call('listEntries', { query })
      const statuses = new Set((await Promise.all(own)).map(({ status }) => status))

      // SQLite may answer a search of a short ledger before the next request starts.
      if (dialect === 'sqlite') statuses.add(429)
      expect(statuses).toEqual(new Set([200, 429]))
      expect((await others).status).toBe(200)
    }
  })

  it('are found by trace_id, exactly', async () => {
    for (const trace_id of ['t-1', 't-10', 'T-1', 't_1', 't"1', 't\\1', 'é1'])
      await api.ok('appendEntry', append({ trace_id }))
    await api.ok('appendEntry', append({ metadata: { trace_id: 't-1' } }))

    for (const trace_id of ['t-1', 't_1', 't"1', 't\\1', 'é1']) {
      const found = await listed({ trace_id })
      expect(found.map(({ data }) => data?.['trace_id'])).toEqual([trace_id])
    }
  })

  it('of an agent are those that it is the actor of, too, page by page and in order', async () => {
    const agent = 'worker'
    const mine = [
      { agent_id: agent },
      { actor: agent },
      { actor: agent, agent_id: 'boss' },
      { actor: { type: 'agent', id: agent } },
      { agent_id: agent, actor: 'boss' },
      { actor: agent, decision_id: null },
    ]
    const seqs: number[] = []
    for (const body of mine) {
      seqs.push((await api.ok('appendEntry', append(body))).seq)
      await api.ok('appendEntry', append({ actor: { type: 'user', id: agent } }))
      await api.ok('appendEntry', append({ agent_id: 'boss' }))
    }
    for (const order of ['asc', 'desc']) {
      const expected = order === 'asc' ? seqs : seqs.toReversed()
      const found: number[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const query = { agent_id: agent, order, limit: 2, ...(cursor !== '' && { cursor }) }
        const page: { data: { seq: number }[]; next_cursor: string | null } = await api.ok(
          'listEntries',
          { query },
        )
        found.push(...page.data.map(({ seq }) => seq))
        cursor = page.next_cursor
      }
      expect(found).toEqual(expected)
    }
    expect(await listed({ agent_id: agent, actor: 'boss' })).toHaveLength(1)
    expect(await listed({ agent_id: agent, kind: 'enforcement.gap' })).toHaveLength(1)
  })
})
