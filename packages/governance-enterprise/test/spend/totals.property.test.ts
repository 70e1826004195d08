import { WINDOWS } from '@remit/contract/values'
import { createClock, runs, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { Replay } from '../support/replay.ts'

const agent = fc.constantFrom('a', 'b')
// Few values, so that sums meet caps exactly.
const usd = fc.constantFrom(0, 0.000001, 0.1, 0.2, 1, 2.5, 5, 7)
const cap = fc.constantFrom(null, 0, 0.3, 5, 10, 20)

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      agent,
      amount: fc.oneof(usd, fc.constantFrom(undefined, '5', null)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('append' as const), agent, cost: usd }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      which: fc.nat({ max: 40 }),
      cost: usd,
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        do: fc.constant('limit' as const),
        agent,
        hourly_usd: cap,
        daily_usd: cap,
        monthly_usd: cap,
        on_missing_amount: fc.constantFrom('zero', 'deny'),
        hold_ttl_seconds: fc.constantFrom(null, 60, 90_000),
      })
      .filter((limit) => WINDOWS.some((window) => limit[window.cap] !== null)),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unlimit' as const), agent }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Steps of a round run at the same time; then the clock moves. */
const round = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  seconds: fc.constantFrom(0, 0, 1, 59, 60, 3_600, 86_400, 15 * 86_400),
})

describe.each(someDialects())('spend on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock('2026-11-20T08:00:00.000Z')
    all = await createApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  it('equal the ledger, after any sequence of requests, and every decision follows from them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 12 }), async (rounds) => {
        const api = all.as(await all.remit.organization())
        const decisions: string[] = []
        for (const { steps, seconds } of rounds) {
          const statuses = await Promise.all(steps.map((one) => perform(api, one, decisions)))
          // Removed twice, or settled twice; nothing else can go wrong.
          const odd = statuses.filter((status) => ![null, 200, 201, 204, 404, 409].includes(status))
          expect(odd).toEqual([])
          clock.advance(seconds * 1000)
        }

        const replay = new Replay()
        const { data } = await api.ok('listEntries', { query: { order: 'asc', limit: 1000 } })
        for (const entry of data) replay.take(entry)
        expect(replay.faults).toEqual([])
        await expectSameTotals(api, replay, clock.now())
      }),
      { numRuns: runs(dialect === 'sqlite' ? 60 : 25) },
    )
  })
})

/** Performs one step; the status of its answer, or null when there was nothing to do. */
async function perform(api: Api, one: Step, decisions: string[]): Promise<number | null> {
  if (one.do === 'ask') {
    const context = one.amount === undefined ? {} : { amount_usd: one.amount ?? '' }
    const answer = await api.ok('authorize', {
      body: { agent_id: one.agent, action: 'a.b', context },
    })
    if (answer.decision === 'allow') decisions.push(answer.decision_id)
    return 200
  }
  const params = { id: one.do === 'settle' ? '' : one.agent }
  if (one.do === 'unlimit') return (await api.call('removeSpendLimit', { params })).status
  if (one.do === 'limit') {
    const { do: _, agent: __, ...body } = one
    return (await api.call('setSpendLimit', { params, body })).status
  }
  const decision_id = one.do === 'settle' && decisions[one.which % Math.max(1, decisions.length)]
  if (decision_id === undefined) return null
  const target = decision_id === false ? { agent_id: params.id } : { decision_id }
  return (await api.call('appendEntry', { body: { action: 'a.b', ...target, cost_usd: one.cost } }))
    .status
}

/** Compares the hour, day and month totals of the API with the replay's sums. */
async function expectSameTotals(api: Api, replay: Replay, nowMs: number): Promise<void> {
  const now = new Date(nowMs).toISOString()
  for (const id of ['a', 'b']) {
    const { spent } = await api.ok('setSpendLimit', { params: { id }, body: { daily_usd: 1 } })
    for (const { name, letters } of WINDOWS) {
      const { spent: used, held } = replay.usage(id, now.slice(0, letters), now)
      expect(spent[name]).toMatchObject({ usd: used / 1e6, held_usd: held / 1e6 })
    }
  }
}
