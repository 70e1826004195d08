import type { Deps } from '@remit/core/module'
import { createClock, runs, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spendAccounts } from '../../src/budgets/rebuild.ts'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { LedgerOfBudgets } from '../support/budgets.ts'

const agent = fc.constantFrom('a', 'b', 'c')
const amount = fc.constantFrom(undefined, 0, 0.000001, 0.1, 1, 2.5, 5, 7)
const tokens = fc.constantFrom(undefined, 0, 1, 40, 100)
const window = fc.constantFrom(
  'hour',
  'day',
  'week',
  'month',
  'total',
  'rolling_24h',
  'rolling_30d',
)

/** A tree of random shape: each budget is below one of those before it, or a root. */
const tree = fc.array(
  fc.record({
    parent: fc.nat({ max: 5 }),
    agents: fc.constantFrom(['*'], ['*'], ['a'], ['b', 'c']),
    per: fc.constantFrom(null, null, 'agent'),
    unit: fc.constantFrom('usd', 'usd', 'tokens', 'calls'),
    window,
    limit: fc.constantFrom(0, 3, 10, 20),
    mode: fc.constantFrom('enforce', 'enforce', 'observe'),
    hold_ttl_seconds: fc.constantFrom(null, 60, 90_000),
    time_zone: fc.constantFrom('UTC', 'Europe/Berlin'),
  }),
  { minLength: 1, maxLength: 6 },
)

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('ask' as const), agent, amount, tokens }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      which: fc.nat({ max: 40 }),
      amount,
      tokens,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('append' as const), agent, amount, tokens }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('remove' as const), which: fc.nat({ max: 5 }) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const round = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  seconds: fc.constantFrom(0, 0, 1, 60, 3_600, 86_400, 15 * 86_400),
})

describe.each(someDialects())('budgets on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock('2026-10-20T08:00:00.000Z')
    all = await createApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  it('equal the ledger after any requests, and no allow exceeds one at its entry', async () => {
    await fc.assert(
      fc.asyncProperty(
        tree,
        fc.array(round, { minLength: 1, maxLength: 10 }),
        async (shapes, rounds) => {
          const api = all.as(await all.remit.organization())
          for (const [i, { parent, ...shape }] of shapes.entries()) {
            const parent_id = i === 0 || parent >= i ? null : `n${parent}`
            const { agents, ...rest } = shape
            const body = { ...rest, parent_id, match: { agents } }
            // A child that matches more than its parent is refused.
            await api.call('setBudget', { params: { id: `n${i}` }, body })
          }
          const decisions: string[] = []
          for (const { steps, seconds } of rounds) {
            const statuses = await Promise.all(steps.map((one) => perform(api, one, decisions)))
            const odd = statuses.filter((status) => ![200, 201, 204, 404, 409].includes(status))
            expect(odd).toEqual([])
            clock.advance(seconds * 1000)
          }

          const ledger = new LedgerOfBudgets()
          const { data } = await api.ok('listEntries', { query: { order: 'asc', limit: 1000 } })
          for (const entry of data) ledger.add(entry)
          expect(ledger.exceeded).toEqual([])
          expect(ledger.decided).toBeGreaterThanOrEqual(0)
          const deps = { db: all.remit.db, clock } as Partial<Deps> as Deps
          const found = await spendAccounts(deps).compare(api.org.id)
          expect([...found.budgets, ...found.differences]).toEqual([])
        },
      ),
      { numRuns: runs(400) },
    )
  })

  async function perform(api: Api, one: Step, decisions: string[]): Promise<number> {
    if (one.do === 'remove')
      return (await api.call('removeBudget', { params: { id: `n${one.which}` } })).status
    const amounts = one.tokens === undefined ? undefined : { tokens: one.tokens }
    if (one.do === 'ask') {
      const { agent: agent_id, amount: amount_usd } = one
      const body = { agent_id, action: 'a.b', context: { amount_usd, amounts } }
      const { decision, decision_id } = await api.ok('authorize', { body })
      if (decision === 'allow') decisions.push(decision_id)
      return 200
    }
    const decision_id = one.do === 'settle' ? decisions[one.which] : undefined
    if (one.do === 'settle' && decision_id === undefined) return 200
    const body = {
      action: 'a.b',
      ...(one.do === 'settle' ? { decision_id } : { agent_id: one.agent }),
      ...(one.amount !== undefined && { cost_usd: one.amount }),
      ...(amounts && { amounts }),
    }
    return (await api.call('appendEntry', { body })).status
  }

  it('a child spends its whole slice, whatever others have spent', async () => {
    const slices = fc.array(
      fc.record({
        share: fc.constantFrom(5, 10, 30),
        below: fc.array(fc.constantFrom(1, 2, 4), { maxLength: 2 }),
      }),
      { minLength: 1, maxLength: 3 },
    )
    const asks = fc.array(
      fc.record({
        agent: fc.constantFrom('s0', 's0x0', 's1', 's2', 'other'),
        amount: fc.constantFrom(1, 3, 7, 20, 50),
      }),
      { maxLength: 25 },
    )
    await fc.assert(
      fc.asyncProperty(slices, asks, async (shapes, requests) => {
        const api = all.as(await all.remit.organization())
        const set = (id: string, more: object) =>
          api.ok('setBudget', { params: { id }, body: { unit: 'usd', window: 'month', ...more } })
        await set('root', { limit: 90 })
        const owners: [string, string, number][] = []
        for (const [i, { share: least, below }] of shapes.entries()) {
          const id = `s${i}`
          const parts = below.reduce((sum, one) => sum + one, 0)
          const share = Math.max(least, parts)
          const names = [id, ...below.map((_, j) => `${id}x${j}`)]
          await set(id, {
            parent_id: 'root',
            reserved: true,
            limit: share,
            match: { agents: names },
          })
          for (const [j, limit] of below.entries()) {
            const child = `${id}x${j}`
            await set(child, { parent_id: id, reserved: true, limit, match: { agents: [child] } })
            owners.push([child, child, limit])
          }
          if (share > parts) owners.push([id, id, share - parts])
        }
        const pay = async (agent_id: string, amount_usd: number) =>
          (
            await api.ok('authorize', {
              body: { agent_id, action: 'a.b', context: { amount_usd } },
            })
          ).decision
        // Requests without a slice, and requests of others.
        for (const { agent: agent_id, amount: usd } of requests) await pay(agent_id, usd)
        for (const [agent_id, id, limit] of owners) {
          const { usage } = await api.ok('getBudget', { params: { id } })
          const left = Math.min(limit, usage?.remaining ?? 0)
          const decision = left > 0 ? await pay(agent_id, left) : 'allow'
          expect(decision).toBe('allow')
          // Nobody spent of this slice, so all of it is left.
          const isUntouched = !requests.some((one) => one.agent.startsWith(id.split('x')[0] ?? ''))
          expect(isUntouched ? left : limit).toBe(limit)
        }
      }),
      { numRuns: runs(300) },
    )
  })
})
