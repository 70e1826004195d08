import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { judgeBody, PRICES, startJudging } from '../support/judging.ts'
import type { Judging } from '../support/judging.ts'

let judging: Judging
beforeAll(async () => {
  judging = await startJudging({ more: { concurrency: 3 } })
})
beforeEach(() => judging.server.forget())
afterAll(() => judging.close())

const results = (count: number) => Array.from({ length: count }, (_, i) => ({ output: String(i) }))

describe('calls at once', () => {
  it('are never more than the operator allows, over all requests together', async () => {
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((criteria) => judging.judge('steady', { criteria }, results(10))),
    )

    expect(answers.map(({ aggregate }) => aggregate.scored)).toEqual([10, 10, 10])
    expect(judging.server.calls).toHaveLength(30)
    expect(judging.server.peak).toBe(3)
  })

  it('are fewer after the judge reported too many requests', async () => {
    const wide = await startJudging({ more: { concurrency: 8 } })

    await wide.judge('crowded', { max_retries: 1 }, results(8))

    const open = wide.server.calls.map((call) => call.open)
    expect(Math.max(...open.slice(0, 8))).toBe(8)
    expect(Math.max(...open.slice(8))).toBe(1)
    expect(open).toHaveLength(16)
    await wide.close()
  })

  it('let a small request pass a large one', async () => {
    const large = judging.judge('steady', { criteria: 'large' }, results(60))
    const calls = () => judging.server.calls.length
    await expect.poll(calls, { timeout: 60_000 }).toBeGreaterThan(3)

    await judging.judge('steady', { criteria: 'small' }, results(1))

    const small = judging.server.calls.findIndex(({ user }) => user.includes('small'))
    expect(small).toBeLessThan(15)
    await large
  })
})

describe('cost', () => {
  it('is the cost of the tokens at the operator’s prices', async () => {
    const { scores, aggregate } = await judging.judge('good', { samples: 2 }, results(3))

    // A call: 800 fresh tokens at 2, 200 cached at 0.5, 100 written at 8 USD a million.
    const each = (800 * PRICES.input + 200 * PRICES.cached_input + 100 * PRICES.output) / 1e6
    expect(scores[0]?.metadata['cost_usd']).toBe(2 * each)
    expect(aggregate.metadata).toMatchObject({
      cost_usd: 6 * each,
      usage: { input_tokens: 6000, output_tokens: 600, cached_tokens: 1200, calls: 6 },
    })
  })

  it('is unknown, not zero, where there are no prices', async () => {
    const free = await startJudging({ more: { prices: undefined } })

    const { scores, aggregate } = await free.judge('good')

    expect(scores[0]?.metadata['cost_usd']).toBeNull()
    expect(aggregate.metadata['cost_usd']).toBeNull()
    const body = judgeBody('good', { max_cost_usd: 1 }, results(1))
    expect(await free.api.refusal('runScorer', { body })).toMatchObject({
      errors: [{ path: 'params.max_cost_usd' }],
    })
    await free.close()
  })

  it.each(['garbage_usage', 'huge_usage'] as const)(
    'does not count invalid usage (%s), and reports it',
    async (judge) => {
      const { scores } = await judging.judge(judge)

      expect(scores[0]).toMatchObject({
        score: 1,
        metadata: { cost_usd: 0, usage: { input_tokens: 0, unmetered_calls: 1, calls: 1 } },
      })
    },
  )

  it('ends before the limit: no call begins that could pass it', async () => {
    // A call is charged 0.0025 and could cost some 0.009: the output tokens alone 0.008192.
    const params = { max_cost_usd: 0.02, cache: 'off' }

    const { scores, aggregate } = await judging.judge('good', params, results(20))

    const done = scores.filter(({ score }) => score !== null)
    expect(done.length).toBeGreaterThanOrEqual(4)
    expect(done.length).toBeLessThanOrEqual(6)
    expect(judging.server.calls).toHaveLength(done.length)
    expect(aggregate.metadata['cost_usd']).toBeLessThanOrEqual(0.02)
    expect(aggregate.errors_by_code).toEqual({ judge_budget_exceeded: 20 - done.length })
  })

  it('is limited by the operator too, and a request cannot ask for more', async () => {
    const strict = await startJudging({ more: { max_cost_usd: 0.001 } })

    const { aggregate } = await strict.judge('good', { max_cost_usd: 5 })

    expect(aggregate.errors_by_code).toEqual({ judge_budget_exceeded: 1 })
    expect(strict.server.calls).toEqual([])
    await strict.close()
  })

  it('counts a call that may have been charged at the most that it can be', async () => {
    const params = { max_cost_usd: 0.0125, timeout_ms: 100, max_retries: 3 }

    const { scores } = await judging.judge('slow', params)

    // One fits; the retry does not any more, although nothing is known to have been spent.
    expect(scores[0]?.error?.code).toBe('judge_budget_exceeded')
    expect(judging.server.calls).toHaveLength(1)
  })
})

describe('a dry run', () => {
  it('returns the maximum cost without a call', async () => {
    const { scores, aggregate } = await judging.judge(
      'good',
      { dry_run: true, samples: 3, criteria: 'Dry.' },
      results(4),
    )

    expect(judging.server.calls).toEqual([])
    expect(aggregate.errors_by_code).toEqual({ dry_run: 4 })
    const { usage, cost_usd } = aggregate.metadata['estimate'] as {
      usage: Record<string, number>
      cost_usd: number
    }
    expect(usage).toMatchObject({ calls: 12, output_tokens: 12 * 1024 })
    expect(cost_usd).toBeGreaterThan((12 * 1024 * PRICES.output) / 1e6)
    expect(scores[0]?.metadata['estimate']).toMatchObject({ usage: { calls: 3 } })
    // The bill is not higher than the estimate.
    const real = await judging.judge('good', { samples: 3, criteria: 'Dry.' }, results(4))
    expect(real.aggregate.metadata['cost_usd']).toBeLessThan(cost_usd)
  })

  it('costs nothing: there is no spend in its entry', async () => {
    await judging.judge('good', { dry_run: true })

    const { data } = await judging.api.ok('listEntries', { query: { limit: 1 } })
    expect(data[0]).toMatchObject({ kind: 'scorer.ran', data: { scored: 0 } })
    expect(data[0]?.data).not.toHaveProperty('cost_usd')
  })
})
