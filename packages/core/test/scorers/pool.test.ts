import type { ResultToScore, ScorersAnswer } from '@remit/contract'
import { afterAll, describe, expect, it } from 'vitest'
import { ComputePool } from '../../src/threads/pool.ts'
import { runScorer } from '../../src/scorers/run.ts'
import { scoreJob } from '../../src/scorers/score-job.ts'
import { answerOf, context, examples, scorerNamed } from './support.ts'
import type { Params } from './support.ts'

const pool = new ComputePool(2)
afterAll(() => pool.close())

function run(
  name: string,
  results: ResultToScore[],
  params: Params = {},
  options: { computer?: ComputePool; budgetMs?: number } = {},
): Promise<ScorersAnswer> {
  // Nothing is scored at once, however short.
  return runScorer(
    { ...scorerNamed(name), inlineLength: 0 },
    { scorer: name, params, results },
    { ...context, computer: pool, ...options },
  )
}

/** Looks at each level twice: 2^depth steps. */
const EXPONENTIAL = {
  allOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#' } } }],
}
const DEEP = '{"a":'.repeat(60) + '1' + '}'.repeat(60)

describe('a worker', () => {
  it('gives the same scores as the event loop', async () => {
    for (const { scorer, params, result, expected_score } of examples) {
      const { scores } = await run(scorer, [result], params)
      expect(scores[0]!.score ?? -1).toBeCloseTo(expected_score ?? -1, 6)
    }
  })

  it('keeps the order over many parts, and names each fault', async () => {
    const results = Array.from({ length: 1_000 }, (_, at) =>
      at % 10 === 3 ? {} : { id: `${at}`, output: 'a'.repeat(at), expected: 'a'.repeat(500) },
    )
    const { scores, aggregate } = await run('levenshtein', results)

    const expected = (at: number) => 1 - Math.abs(at - 500) / Math.max(at, 500)
    expect(scores.map(({ index }) => index)).toEqual(results.map((_, at) => at))
    for (const { id, index, score, error } of scores) {
      const missing = index % 10 === 3
      expect(error?.code).toBe(missing ? 'missing_field' : undefined)
      expect(id).toBe(missing ? null : `${index}`)
      expect(score ?? -1).toBeCloseTo(missing ? -1 : expected(index), 12)
    }
    expect(aggregate).toMatchObject({ count: 1_000, scored: 900, errors: 100 })
  })

  it('adds up a corpus score over many parts', async () => {
    const results = Array.from({ length: 500 }, (_, at) => ({
      output: 'the dog bit the man',
      expected: at % 2 === 0 ? 'the dog bit the man' : 'a cat',
    }))
    const apart = await run('bleu', results)
    const here = await answerOf('bleu', results)

    expect(apart.aggregate).toEqual(here.aggregate)
  })

  it('is ended when one result takes all the time there is, and the scores before stay', async () => {
    const results = [{ output: '"text"' }, { output: DEEP }, { output: '"never reached"' }]
    const warm = await run('json_schema', [{ output: '"text"' }], { schema: EXPONENTIAL })
    const { scores } = await run('json_schema', results, { schema: EXPONENTIAL }, { budgetMs: 200 })

    expect(warm.scores[0]!.score).toBe(1)
    expect(scores.map(({ error }) => error?.code ?? null).slice(1)).toEqual([
      'time_budget_exceeded',
      'time_budget_exceeded',
    ])
    expect(scores[1]!.reason).toBe('the request exceeded its computing time of 0.2 s')
  })

  it('serves others after it was ended', async () => {
    const { scores } = await run('exact_match', [{ output: 'a', expected: 'a' }])

    expect(scores[0]!.score).toBe(1)
  })

  it('does not serve one owner only', async () => {
    const hog = (budgetMs: number) =>
      run('json_schema', [{ output: DEEP }], { schema: EXPONENTIAL }, { budgetMs })
    const hogs = Promise.all([hog(4_000), hog(100)])
    const task = { scorer: 'exact_match', params: '{}', results: ['{"output":1,"expected":1}'] }
    const another = pool.run('another', scoreJob, task, 1_000)
    const first = await Promise.race([another, hogs])

    expect(first).toMatchObject({ ended: 'done', parts: [{ score: 1 }] })
    expect((await hogs).map(({ scores }) => scores[0]!.error?.code)).toEqual([
      'time_budget_exceeded',
      'time_budget_exceeded',
    ])
  })

  it('refuses a request whose params cannot be used', async () => {
    await expect(run('regex_match', [{ output: 'a' }], { pattern: '(' })).rejects.toMatchObject({
      code: 'invalid_params',
      extras: { errors: [expect.objectContaining({ path: 'params.pattern' })] },
    })
  })

  it('tells its defects from the faults of a result', async () => {
    const task = { scorer: 'no_such', params: '{}', results: ['{}'] }

    await expect(pool.run('', scoreJob, task, 1_000)).rejects.toThrow(
      'the worker does not have the scorer no_such',
    )
  })

  it('leaves only that result unscored which needs too much memory', async () => {
    const small = new ComputePool(1, 24)
    const huge = Array.from({ length: 90_000 }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000)),
    ).join('')
    const fine = { output: 'abc', expected: 'abc' }
    const { scores } = await run(
      'chrf',
      [fine, { output: huge, expected: huge }, fine],
      {},
      { computer: small, budgetMs: 60_000 },
    )
    await small.close()

    expect(scores.map(({ score, error }) => [score, error?.code])).toEqual([
      [1, undefined],
      [null, 'limit_exceeded'],
      [1, undefined],
    ])
  })

  it('gives up what waits when the pool closes', async () => {
    const closing = new ComputePool(1)
    const running = run(
      'json_schema',
      [{ output: DEEP }],
      { schema: EXPONENTIAL },
      { computer: closing },
    )
    const waiting = run('exact_match', [{}], {}, { computer: closing })
    const ended = Promise.allSettled([running, waiting])
    await closing.close()

    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(run('exact_match', [{}], {}, { computer: closing })).rejects.toThrow('closing')
  })
})
