import { on } from '@remit/core/db'
import { setLimits } from '@remit/core/orgs'
import { createClock, createTestRemit, someDialects } from '@remit/testing'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import governance from '../../src/index.ts'
import type { JudgeFailure } from '../../src/scorers/judge/post.ts'
import { dayLimit } from '../../src/scorers/judge/limits.ts'
import { PARTS_OF_USD } from '../../src/scorers/judge/usage.ts'
import type { Tables } from '../../src/tables/schema.ts'
import { apiOf } from '../support/api.ts'
import { judgeBody, PRICES, startJudging } from '../support/judging.ts'
import type { Judging, JudgingOptions } from '../support/judging.ts'

const results = (count: number) => Array.from({ length: count }, (_, i) => ({ output: String(i) }))
/** USD of one call of the judge `good`. */
const EACH = (800 * PRICES.input + 200 * PRICES.cached_input + 100 * PRICES.output) / 1e6

describe.each(someDialects())('the daily limit of judges on %s', (dialect) => {
  let judging: Judging
  afterEach(() => judging.close())
  const start = async (options: JudgingOptions = {}) => {
    judging = await startJudging({ dialect, ...options })
  }
  const codes = async (count: number, criteria: string) => {
    const { scores } = await judging.judge('good', { criteria }, results(count))
    return scores.map(({ error }) => error?.code ?? 'scored')
  }
  const days = () => on<Tables>(judging.api.remit.db).selectFrom('judge_day').selectAll().execute()

  it('of calls refuses further calls by name, without a call', async () => {
    await start({ daily: { calls: 5 } })

    const first = await codes(7, 'a')

    expect(first.filter((code) => code === 'scored')).toHaveLength(5)
    expect(first.filter((code) => code === 'judge_daily_calls_exceeded')).toHaveLength(2)
    expect(await codes(2, 'b')).toEqual(Array(2).fill('judge_daily_calls_exceeded'))
    expect(judging.server.calls).toHaveLength(5)
    const { data } = await judging.api.ok('listEntries', { query: { kind: 'scorer.ran' } })
    expect(data[0]?.data).toMatchObject({ errors_by_code: { judge_daily_calls_exceeded: 2 } })
  })

  it('gives verdicts that are kept all the same', async () => {
    await start({ daily: { calls: 2 } })
    expect(await codes(2, 'a')).toEqual(['scored', 'scored'])

    expect(await codes(2, 'a')).toEqual(['scored', 'scored'])
    expect(await codes(1, 'b')).toEqual(['judge_daily_calls_exceeded'])
  })

  it('starts over with the UTC day', async () => {
    const clock = createClock('2026-11-20T23:59:59.000Z')
    await start({ daily: { calls: 1 }, clock })
    expect(await codes(1, 'a')).toEqual(['scored'])
    expect(await codes(1, 'b')).toEqual(['judge_daily_calls_exceeded'])

    clock.advance(1000)

    expect(await codes(1, 'c')).toEqual(['scored'])
  })

  it('is of each organization alone', async () => {
    await start({ daily: { calls: 1 } })
    expect(await codes(1, 'a')).toEqual(['scored'])
    const other = judging.api.as(await judging.api.remit.organization())

    const { scores } = await other.ok('runScorer', { body: judgeBody('good', {}, results(1)) })

    expect(scores[0]?.error).toBeNull()
  })

  it('counts a refused call, at no cost', async () => {
    await start({ daily: { cost_usd: 1 } })

    const { aggregate } = await judging.judge('always400', {}, results(1))

    const { length: calls } = judging.server.calls
    expect(calls).toBeGreaterThan(0)
    expect(aggregate.metadata).toMatchObject({ usage: { calls, unmetered_calls: 0 }, cost_usd: 0 })
    expect(await days()).toMatchObject([{ calls, cost_micro: 0 }])
  })

  it('does not count a call that waited for its turn until the deadline', async () => {
    await start({ daily: { calls: 5 }, more: { concurrency: 1 } })
    const once = { max_retries: 0, cache: 'off' }
    const sent = judging.judge('slow', { ...once, timeout_ms: 1_000 }, results(1))
    await vi.waitUntil(() => judging.server.calls.length === 1, 60_000)

    const { scores } = await judging.judge('slow', { ...once, deadline_ms: 100 }, results(1))
    await sent

    expect(scores[0]?.error?.code).toBe('judge_timeout')
    expect(judging.server.calls).toHaveLength(1)
    expect(await days()).toMatchObject([{ calls: 1 }])
  })

  it('of cost is never exceeded, and settles at the actual cost', async () => {
    await start({ daily: { cost_usd: 0.05 }, more: { concurrency: 8 } })

    const all = await codes(60, 'a')

    const scored = all.filter((code) => code === 'scored').length
    const [day] = await days()
    expect(new Set(all)).toEqual(new Set(['scored', 'judge_daily_cost_exceeded']))
    expect(day).toMatchObject({ calls: scored })
    expect(Number(day?.cost_micro)).toBe(scored * Math.ceil(EACH * 1e6))
    expect(Number(day?.cost_micro)).toBeLessThanOrEqual(50_000)
  })

  it('of cost is the lower one of the judges file and of the organization', async () => {
    await start({ daily: { cost_usd: 0.05 }, more: { concurrency: 8 } })
    const { api } = judging
    await setLimits(api.remit.writer, api.org.id, { judge_usd_per_day: 0.02 })

    const all = await codes(60, 'a')

    const [day] = await days()
    expect(new Set(all)).toEqual(new Set(['scored', 'judge_daily_cost_exceeded']))
    expect(Number(day?.cost_micro)).toBeGreaterThan(0)
    expect(Number(day?.cost_micro)).toBeLessThanOrEqual(20_000)
    await setLimits(api.remit.writer, api.org.id, { judge_usd_per_day: 1 })
    await codes(60, 'b')
    expect(Number((await days())[0]?.cost_micro)).toBeLessThanOrEqual(50_000)
  })

  it('of 0 USD for the organization allows no call, whatever the file has', async () => {
    await start({ daily: { calls: 5 } })
    const { api } = judging
    await setLimits(api.remit.writer, api.org.id, { judge_usd_per_day: 0 })

    expect(await codes(1, 'a')).toEqual(['judge_daily_cost_exceeded'])
    expect(judging.server.calls).toHaveLength(0)
  })

  it('of cost for the organization refuses a judge without prices, whose cost nobody counts', async () => {
    await start({ more: { prices: undefined } })
    const { api } = judging
    await setLimits(api.remit.writer, api.org.id, { judge_usd_per_day: 5 })

    const body = judgeBody('good', {}, results(1))
    const { code, errors } = await api.refusal('runScorer', { body })

    expect([code, errors]).toEqual([
      'invalid_request',
      [{ path: 'params.judge', message: expect.stringContaining('good has none') }],
    ])
    expect(judging.server.calls).toHaveLength(0)
    await setLimits(api.remit.writer, api.org.id, { judge_usd_per_day: null })
    expect(await codes(1, 'a')).toEqual(['scored'])
  })

  it('of cost for the organization permits a judge that costs 0', async () => {
    await start({ more: { prices: { input: 0, output: 0 } } })
    const { api } = judging
    await setLimits(api.remit.writer, api.org.id, { judge_usd_per_day: 0.01 })

    expect(await codes(3, 'a')).toEqual(['scored', 'scored', 'scored'])
  })

  it('of 0 allows nothing', async () => {
    await start({ daily: { calls: 0 } })

    expect(await codes(1, 'a')).toEqual(['judge_daily_calls_exceeded'])
    expect(judging.server.calls).toHaveLength(0)
  })

  it('names the limit that refuses a call, also if another call ends meanwhile', async () => {
    await start()
    const { api } = judging
    const deps = { ...api.remit, clock: createClock(), log: pino({ level: 'silent' }) }
    const limit = dayLimit(deps, api.org.id, { calls: 1, cost_usd: 1 })
    const settle = await limit(PARTS_OF_USD)

    const [second] = await Promise.allSettled([limit(0), settle(null)])

    // It may also start, if the other one ends first.
    const { code } = second.status === 'rejected' ? (second.reason as JudgeFailure) : {}
    expect(code).not.toBe('judge_daily_cost_exceeded')
  })

  it('makes no call if it cannot be read', async () => {
    await start({ daily: { calls: 5 } })
    await sql`drop table judge_day`.execute(judging.api.remit.db)

    expect(await codes(1, 'a')).toEqual(['judge_unavailable'])
    expect(judging.server.calls).toHaveLength(0)
  })
})

it('two processes keep to one daily limit of judges together', async () => {
  const judging = await startJudging({ dialect: 'postgres', daily: { calls: 10 } })
  const { url, signingKey } = judging.api.remit
  const settings = judging.settings
  const second = await createTestRemit({ modules: [governance], url, signingKey, settings })
  const there = apiOf(second, judging.api.org)

  const answers = await Promise.all(
    [judging.api, there].map((api, i) =>
      api.ok('runScorer', { body: judgeBody('good', { criteria: `c${i}` }, results(20)) }),
    ),
  )

  const scored = answers.flatMap(({ scores }) => scores).filter(({ error }) => error === null)
  expect(scored).toHaveLength(10)
  expect(judging.server.calls).toHaveLength(10)
  await second.close()
  await judging.close()
})
