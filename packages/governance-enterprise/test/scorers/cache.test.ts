import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { judgeCleanup } from '../../src/scorers/judge/judges.ts'
import { judgeBody, SECRET, startJudging } from '../support/judging.ts'
import { dump } from '../support/dump.ts'
import type { Judging } from '../support/judging.ts'

const DAY_MS = 24 * 60 * 60 * 1000

describe.each(someDialects())('verdicts that are kept, on %s', (dialect) => {
  let judging: Judging
  let clock: TestClock
  beforeEach(async () => {
    clock = createClock()
    judging = await startJudging({ dialect, clock })
  })
  afterEach(() => judging.close())

  const RESULTS = [{ output: 'one' }, { output: "two\n\u2028 it's 😀" }]
  const calls = () => judging.server.calls.splice(0).length

  it('answer the same request again, for nothing', async () => {
    const first = await judging.judge('votes', { samples: 3 }, RESULTS)
    expect(calls()).toBe(6)

    const second = await judging.judge('votes', { samples: 3 }, RESULTS)

    expect(calls()).toBe(0)
    expect(second.scores.map(({ score }) => score)).toEqual(first.scores.map(({ score }) => score))
    expect(second.scores[0]?.metadata).toMatchObject({
      votes: first.scores[0]?.metadata['votes'],
      cached: true,
      cost_usd: 0,
      usage: { calls: 0, input_tokens: 0 },
    })
    expect(second.scores[0]?.metadata['samples']).toMatchObject([
      { cached: true, attempt: 0, reasoning: 'Because.' },
      { cached: true },
      { cached: true },
    ])
    expect(second.aggregate.metadata).toMatchObject({ cached_calls: 6, cost_usd: 0 })
  })

  it('save the known part of a larger request', async () => {
    await judging.judge('good', { samples: 2 }, RESULTS.slice(0, 1))
    expect(calls()).toBe(2)

    const { scores } = await judging.judge('good', { samples: 5 }, RESULTS)

    expect(calls()).toBe(3 + 5)
    expect(scores.map(({ metadata }) => metadata['cached'])).toEqual([false, false])
  })

  it('know both orders of a pair', async () => {
    const pair = [{ output: 'aa', expected: 'a' }]
    await judging.judge('longer_wins', { mode: 'pairwise' }, pair)
    expect(calls()).toBe(2)

    const { scores } = await judging.judge('longer_wins', { mode: 'pairwise' }, pair)

    expect(calls()).toBe(0)
    expect(scores[0]).toMatchObject({ score: 1, metadata: { position_consistent: true } })
  })

  it.each<[string, object, object?]>([
    ['other criteria', { criteria: 'Something else.' }],
    ['other labels', { choices: { yes: 1, no: 0 } }],
    ['no reasons', { reasoning: false }],
    ['another temperature', { temperature: 0.7 }],
    ['another effort', { effort: 'high' }],
    ['another mode', { mode: 'choices' }],
    ['another judge', { judge: 'first_wins' }],
    ['another input', {}, { input: 'x', output: 'one' }],
    ['another form of the output', {}, { output: ['one'] }],
  ])('do not answer for %s', async (_, params, result = RESULTS[0]!) => {
    await judging.judge('good', {}, RESULTS.slice(0, 1))
    expect(calls()).toBe(1)

    await judging.judge('good', params, [result])

    expect(calls()).toBe(1)
  })

  it.each<[string, object]>([
    ['other scores of the same labels', { choices: { pass: 0.9, fail: 0.2 } }],
    ['another threshold for retries', { max_retries: 5, timeout_ms: 1000 }],
    ['another aggregation', { aggregation: 'mean' }],
  ])('answer for %s: the judge would be asked the same', async (_, params) => {
    await judging.judge('good', {}, RESULTS)
    expect(calls()).toBe(2)

    await judging.judge('good', params, RESULTS)

    expect(calls()).toBe(0)
  })

  it('are passed by, with and without being replaced', async () => {
    await judging.judge('each_another', { cache: 'off' }, RESULTS.slice(0, 1))
    expect(calls()).toBe(1)
    // Asked for the second time this judge says fail, and then pass again.
    const kept = await judging.judge('each_another', {}, RESULTS.slice(0, 1))
    expect(calls()).toBe(1)

    const fresh = await judging.judge('each_another', { cache: 'refresh' }, RESULTS.slice(0, 1))
    const again = await judging.judge('each_another', {}, RESULTS.slice(0, 1))

    expect(calls()).toBe(1)
    expect([kept, fresh, again].map(({ scores }) => scores[0]?.score)).toEqual([0, 1, 1])
  })

  it('are stored once for equal results of one request', async () => {
    await judging.judge('good', {}, [RESULTS[0]!, RESULTS[0]!])
    expect(calls()).toBe(2)

    await judging.judge('good', {}, RESULTS.slice(0, 1))

    expect(calls()).toBe(0)
  })

  it('are those of one organization only', async () => {
    await judging.judge('good', {}, RESULTS)
    expect(calls()).toBe(2)
    const other = judging.api.as(await judging.api.remit.organization())

    await other.ok('runScorer', { body: judgeBody('good', {}, RESULTS) })

    expect(calls()).toBe(2)
  })

  it('end after seven days, and are removed', async () => {
    const { db } = judging.api.remit
    const cleanup = judgeCleanup({ db, clock, log: pino({ level: 'silent' }) })
    const count = async () =>
      Number(
        (await sql<{ n: number }>`select count(*) as n from judge_verdict`.execute(db)).rows[0]?.n,
      )
    await judging.judge('good', {}, RESULTS)
    clock.advance(7 * DAY_MS - 1)
    await judging.judge('good', {}, RESULTS)
    expect(calls()).toBe(2)
    expect(await count()).toBe(2)

    clock.advance(1)
    await judging.judge('good', {}, RESULTS.slice(0, 1))

    expect(calls()).toBe(1)
    await cleanup.run()
    expect(await count()).toBe(1)
  })

  it.each(['always500', 'offmenu', 'truncated', 'refusal'] as const)(
    'are never failures (%s)',
    async (judge) => {
      await judging.judge(judge)
      const before = calls()

      await judging.judge(judge)

      expect(calls()).toBe(before)
      expect(before).toBeGreaterThan(0)
    },
  )

  it('never contain the operator’s key, whatever the judge answers, and neither does a response', async () => {
    const { db } = judging.api.remit
    const first = await judging.judge('quotes_key')
    const kept = JSON.stringify(await dump(db, judging.api.org.id))
    await sql`update judge_verdict set verdict = replace(verdict, '[key]', ${SECRET})`.execute(db)
    const second = await judging.judge('quotes_key')

    expect(calls()).toBe(1)
    for (const text of [kept, ...[first, second].map((answer) => JSON.stringify(answer))]) {
      expect(text).toContain('Bearer [key]')
      expect(text).not.toContain('sk-judge')
    }
  })

  it('that no longer fit are requested again', async () => {
    await judging.judge('good', {}, RESULTS)
    await sql`update judge_verdict set verdict = '[{"choice":"Z"}]'`.execute(judging.api.remit.db)
    expect(calls()).toBe(2)

    const { scores } = await judging.judge('good', {}, RESULTS)

    expect(calls()).toBe(2)
    expect(scores[0]?.score).toBe(1)
  })

  it('are not worth losing the answer for, when they cannot be kept', async () => {
    await sql`alter table judge_verdict rename column verdict to gone`.execute(judging.api.remit.db)

    const { scores } = await judging.judge('good', { cache: 'refresh' })

    expect(scores[0]?.score).toBe(1)
  })
})
