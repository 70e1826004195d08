import type { ScorersRequest } from '@remit/contract'
import { ScorersAnswer } from '@remit/contract'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runScorer } from './run.ts'
import type { RunContext } from './run.ts'
import { Unscorable, defineScorer } from './scorer.ts'

const still: RunContext = {
  now: () => 0,
  pause: async () => {},
  caller: null,
  signal: () => new AbortController().signal,
}

/** Its score is the output itself; costs `cost_usd` milliseconds of the test's clock. */
const echo = (clock = { time: 0 }) =>
  defineScorer({
    name: 'echo',
    version: '3',
    description: 'The output is the score',
    edition: 'community',
    defaultThreshold: 0.8,
    params: z.strictObject({ offset: z.number().default(0) }),
    fields: { output: 'required', expected: 'optional', cost_usd: 'optional' },
    score: ({ output, expected, cost_usd }, { offset }) => {
      clock.time += cost_usd ?? 0
      if (expected === 'bad')
        throw new Unscorable('invalid_expected', 'expected is bad', 'expected')
      if (expected === 'broken') throw new TypeError('a defect of the scorer')
      return { score: Number(output) + offset, reason: 'as given', tally: [1, Number(output)] }
    },
    corpusScore: ([count = 0, sum = 0]) => sum / count / 2,
  })

const run = (results: ScorersRequest['results'], rest: Partial<ScorersRequest> = {}) =>
  runScorer(echo(), { scorer: 'echo', results, ...rest }, still)

describe('running a scorer over a batch', () => {
  it('answers one entry per result in input order, whatever their ids', async () => {
    const answer = await run([{ id: 'b', output: 1 }, { output: 0 }, { id: 'b', output: 0.5 }])

    expect(answer.scores.map(({ id, index, score }) => [id, index, score])).toEqual([
      ['b', 0, 1],
      [null, 1, 0],
      ['b', 2, 0.5],
    ])
    expect(answer).toMatchObject({ scorer: 'echo', scorer_version: '3', threshold: 0.8 })
    expect(ScorersAnswer.safeParse(answer).success).toBe(true)
  })

  it('leaves a result with faulty test data unscored, counts it, and scores the rest', async () => {
    const { scores, aggregate } = await run([
      {},
      { output: null },
      { output: 1, expected: 'bad' },
      { output: 1 },
    ])

    expect(scores.map(({ score, passed, error }) => [score, passed, error])).toEqual([
      [null, null, { code: 'missing_field', field: 'output' }],
      [null, null, { code: 'missing_field', field: 'output' }],
      [null, null, { code: 'invalid_expected', field: 'expected' }],
      [1, true, null],
    ])
    expect(scores[0]!.reason).toBe('output is missing')
    expect(aggregate).toMatchObject({ count: 4, scored: 1, errors: 3, mean: 1 })
    expect(aggregate.errors_by_code).toEqual({ missing_field: 2, invalid_expected: 1 })
  })

  it('takes an explicit null as a value only for a scorer that says so', async () => {
    const present = { ...echo(), fields: { output: 'present' } as const }
    const request = { scorer: 'echo', results: [{ output: null }, {}] }
    const { scores } = await runScorer(present, request, still)

    expect(scores.map(({ score, error }) => [score, error?.code])).toEqual([
      [0, undefined],
      [null, 'missing_field'],
    ])
  })

  it('lets a defect of the scorer fail the request instead of passing for a bad result', async () => {
    await expect(run([{ output: 1, expected: 'broken' }])).rejects.toThrow('a defect of the scorer')
    await expect(run([{ output: 'abc' }])).rejects.toThrow('returned a score that is not a number')
  })

  it('passes a score that reaches the threshold but for the rounding of floats', async () => {
    const { scores } = await run([{ output: 0.1 + 0.7 }, { output: 0.8 - 1e-8 }])

    expect(scores.map(({ passed }) => passed)).toEqual([true, false])
  })

  it("takes the request's threshold over the scorer's own", async () => {
    const { threshold, scores } = await run([{ output: 0.3 }], { threshold: 0.25 })

    expect([threshold, scores[0]!.passed]).toEqual([0.25, true])
  })

  it('keeps every score within 0 and 1', async () => {
    const { scores } = await run([{ output: 1.0000000000000002 }, { output: -3 }])

    expect(scores.map(({ score }) => score)).toEqual([1, 0])
  })

  it('negates scores and the corpus score, but never an unscored result', async () => {
    const { scores, aggregate } = await run([{ output: 0.75 }, {}], { params: { negate: true } })

    expect(scores.map(({ score, passed }) => [score, passed])).toEqual([
      [0.25, false],
      [null, null],
    ])
    expect(scores[0]!.reason).toBe('as given (negated)')
    expect(aggregate.corpus_score).toBe(1 - 0.375)
  })

  it('builds a corpus score from the sums over all scored results', async () => {
    const { aggregate } = await run([{ output: 1 }, {}, { output: 0.5 }])

    expect(aggregate.corpus_score).toBe(0.375)
  })

  it('holds texts to 100,000 characters, counted as code points', async () => {
    const atLimit = `0.${'0'.repeat(99_998)}`
    const emoji = '🙂'.repeat(100_000)
    const { scores } = await run([
      { output: atLimit },
      { output: `${atLimit}0` },
      { output: 0, expected: emoji },
      { output: 0, expected: ['a', `${emoji}🙂`] },
      { output: 0, expected: { a: emoji } },
    ])

    expect(scores.map(({ error }) => error)).toEqual([
      null,
      { code: 'limit_exceeded', field: 'output' },
      null,
      { code: 'limit_exceeded', field: 'expected' },
      { code: 'limit_exceeded', field: 'expected' },
    ])
  })

  const costly = [2_000, 2_900, 200, 1, 1].map((cost_usd) => ({ output: 1, cost_usd }))

  it('stops computing after 5 seconds and says so for every result it did not reach', async () => {
    const clock = { time: 0 }
    const now = () => clock.time
    const answer = await runScorer(
      echo(clock),
      { scorer: 'echo', results: costly },
      { ...still, now, computed: now },
    )

    expect(answer.scores.map(({ error }) => error?.code)).toEqual([
      undefined,
      undefined,
      undefined,
      'time_budget_exceeded',
      'time_budget_exceeded',
    ])
    expect(answer.duration_ms).toBe(5_100)
    expect(answer.aggregate).toMatchObject({ count: 5, scored: 3, errors: 2 })
  })

  it('does not stop if the machine computed something else for 5 seconds', async () => {
    const clock = { time: 0 }
    const answer = await runScorer(
      echo(clock),
      { scorer: 'echo', results: costly },
      { ...still, now: () => clock.time },
    )

    expect(answer.duration_ms).toBe(5_102)
    expect(answer.aggregate).toMatchObject({ count: 5, scored: 5, errors: 0 })
  })

  it('lets other requests run after every 10 ms of work, and their time is not counted', async () => {
    const clock = { time: 0 }
    const results = Array.from({ length: 10 }, () => ({ output: 1, cost_usd: 4 }))
    let pauses = 0
    const pause = async () => {
      pauses++
      clock.time += 60_000
    }
    const answer = await runScorer(
      echo(clock),
      { scorer: 'echo', results },
      { ...still, now: () => clock.time, pause },
    )

    expect(pauses).toBe(3)
    expect(answer.aggregate.errors).toBe(0)
  })
})

describe('the parameters of a scorer', () => {
  it('are refused with the path of every fault, before anything is scored', async () => {
    const params = { ofset: 1, offset: 'x', negate: 'yes' }

    await expect(run([{ output: 1 }], { params })).rejects.toMatchObject({
      code: 'invalid_params',
      status: 400,
      extras: {
        errors: expect.arrayContaining([
          { path: 'params.ofset', message: 'is not a parameter of echo' },
          { path: 'params.offset', message: 'must be a number, not a string' },
          { path: 'params.negate', message: 'must be a boolean, not a string' },
        ]),
      },
    })
  })

  it('reach the scorer with its defaults filled in', async () => {
    const { scores } = await run([{ output: 0.25 }], { params: { offset: 0.5 } })

    expect(scores[0]!.score).toBe(0.75)
  })
})
