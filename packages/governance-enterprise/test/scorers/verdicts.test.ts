import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { judgeBody, startJudging } from '../support/judging.ts'
import type { Judging } from '../support/judging.ts'

let judging: Judging
beforeAll(async () => {
  judging = await startJudging()
})
beforeEach(() => judging.server.forget())
afterAll(() => judging.close())

const CHOICES = { great: 1, fine: 0.6, poor: 0.1 }
const scoreOf = async (...args: Parameters<Judging['judge']>) =>
  (await judging.judge(...args)).scores[0]!

describe('one label', () => {
  it('gives its score, with the reasons of the judge', async () => {
    const score = await scoreOf('good', { mode: 'choices', choices: CHOICES })

    expect(score).toMatchObject({
      score: 1,
      passed: true,
      reason: 'the judge chose great',
      error: null,
      metadata: {
        choice: 'great',
        votes: { great: 1 },
        agreement: 1,
        judge: 'good',
        prompt_version: '1',
        injection_suspected: false,
        cached: false,
        samples: [{ choice: 'great', reasoning: 'Because.', attempt: 1, cached: false }],
        usage: { input_tokens: 1000, output_tokens: 100, cached_tokens: 200, calls: 1 },
      },
    })
    expect(score.metadata).not.toHaveProperty('tie')
    expect(score.metadata).not.toHaveProperty('position_consistent')
  })

  it('is one of those of the request, in the order of their scores, whatever the order they came in', async () => {
    const choices = { poor: 0.1, great: 1, fine: 0.6 }

    await judging.judge('good', { choices, criteria: 'Other words.' })

    const [call] = judging.server.calls
    expect(JSON.stringify(call!.body)).toContain('"enum":["great","fine","poor"]')
    expect(call!.system).toContain('from best to worst: "great", "fine", "poor"')
  })

  it('comes without reasons where none are wanted', async () => {
    const { metadata } = await scoreOf('good', { reasoning: false })

    expect((metadata['samples'] as object[])[0]).not.toHaveProperty('reasoning')
    expect(judging.server.calls[0]!.system).not.toContain('reasoning')
  })

  it('is negated like any score', async () => {
    const { score, reason } = await scoreOf('good', { negate: true })

    expect([score, reason]).toEqual([0, 'the judge chose pass (negated)'])
  })
})

describe('several criteria', () => {
  const criteria = [
    { name: 'exact', description: 'No detail is wrong.', weight: 3 },
    { name: 'brief', description: 'No word too many.' },
  ]

  it('are judged in one call, each with its own score, and weigh as they should', async () => {
    const { score, reason, metadata } = await scoreOf('by_name', { criteria, choices: CHOICES })

    expect(score).toBeCloseTo((3 * 1 + 0.1) / 4, 12)
    expect(reason).toBe('the weighted mean of 2 criteria')
    expect(metadata['criteria']).toEqual({
      exact: { score: 1, choice: 'great', votes: { great: 1 }, agreement: 1 },
      brief: { score: 0.1, choice: 'poor', votes: { poor: 1 }, agreement: 1 },
    })
    expect(metadata['samples']).toMatchObject([
      {
        criteria: { exact: { choice: 'great' }, brief: { choice: 'poor', reasoning: 'Because.' } },
      },
    ])
    expect(judging.server.calls).toHaveLength(1)
    const { system, user } = judging.server.calls[0]!
    for (const text of [system, user]) expect(text).toContain('- exact: No detail is wrong.')
  })

  it('are one question in mode choices', async () => {
    const { metadata } = await scoreOf('first_wins', {
      mode: 'choices',
      criteria,
      choices: CHOICES,
    })

    expect(metadata).toMatchObject({ choice: 'great' })
    expect(metadata).not.toHaveProperty('criteria')
  })
})

describe('several samples', () => {
  it('vote: the majority decides', async () => {
    const score = await scoreOf('votes', { samples: 3, choices: CHOICES, cache: 'off' })

    expect(score).toMatchObject({
      score: 1,
      reason: 'in 2 of 3 samples, the judge chose great',
      metadata: { choice: 'great', votes: { great: 2, fine: 1 }, agreement: 2 / 3 },
    })
    expect(score.metadata['samples']).toHaveLength(3)
    expect(judging.server.calls).toHaveLength(3)
  })

  it('share the score where they tie, and say so', async () => {
    const params = { samples: 2, choices: CHOICES, cache: 'off' }

    const score = await scoreOf('each_another', params)

    expect(score).toMatchObject({ score: 0.8, reason: 'the 2 samples tie' })
    expect(score.metadata).toMatchObject({ choice: null, tie: true, agreement: 0.5 })
  })

  it.each([
    ['mean', (1 + 0.6 + 0.1) / 3],
    ['median', 0.6],
  ])('have a %s on request', async (aggregation, expected) => {
    const params = { samples: 3, choices: CHOICES, aggregation, cache: 'off' }

    expect((await scoreOf('each_another', params)).score).toBeCloseTo(expected, 12)
  })

  it('suffice when more than half of them have a verdict', async () => {
    const answer = await judging.judge('one_fails', { samples: 3, cache: 'off' }, [{ output: '1' }])

    expect(answer.scores[0]).toMatchObject({ score: 1, metadata: { votes: { pass: 2 } } })
  })

  it('are no majority when half of them fail', async () => {
    // A judge that is known to take schemas: then a 400 is no reason to ask in another form.
    await judging.judge('mostly_failing', { cache: 'off' })
    judging.server.forget()

    const score = await scoreOf('mostly_failing', { samples: 3, cache: 'off' })

    expect(score).toMatchObject({ score: null, error: { code: 'judge_unavailable' } })
    expect(score.reason).toBe(
      "only 1 of 3 samples have a verdict: the judge's server answered with status 400",
    )
    expect(score.metadata['usage']).toMatchObject({ calls: 3, input_tokens: 1000 })
  })
})

describe('two answers', () => {
  const pair = [{ input: 'Why?', output: 'A long answer.', expected: 'Short.' }]
  const compare = (judge: 'first_wins' | 'longer_wins', params = {}, results = pair) =>
    judging.judge(judge, { mode: 'pairwise', ...params }, results)

  it('are shown in both orders under neutral names, and the one that stays ahead wins', async () => {
    const { scores, aggregate } = await compare('longer_wins')

    expect(scores[0]).toMatchObject({
      score: 1,
      reason: 'the judge prefers the output',
      metadata: { choice: 'win', position_consistent: true },
    })
    expect(aggregate.metadata['position_inconsistency_rate']).toBe(0)
    const first = judging.server.calls.map(
      ({ user }) => /field="answer_a">"(.*?)"</.exec(user)?.[1],
    )
    expect(new Set(first)).toEqual(new Set(['A long answer.', 'Short.']))
    for (const { system, user } of judging.server.calls)
      expect(system + user).not.toMatch(/field="(output|expected)"/)
  })

  it('lose and tie just as well', async () => {
    const lost = [{ output: 'Short.', expected: 'A long answer.' }]
    const even = [{ output: 'Same.', expected: 'Same.' }]

    expect((await compare('longer_wins', {}, lost as never)).scores[0]).toMatchObject({
      score: 0,
      reason: 'the judge prefers expected',
    })
    expect((await compare('longer_wins', {}, even as never)).scores[0]).toMatchObject({
      score: 0.5,
      reason: 'the judge sees no difference',
      metadata: { position_consistent: true },
    })
  })

  it('are even for a judge that takes whatever stands first', async () => {
    const { scores, aggregate } = await compare('first_wins')

    expect(scores[0]).toMatchObject({
      score: 0.5,
      reason: 'the judge prefers a different answer when the order is swapped',
      metadata: { choice: 'inconsistent', position_consistent: false },
    })
    expect(aggregate.metadata['position_inconsistency_rate']).toBe(1)
  })

  it('are shown once without the swap, either one first as often', async () => {
    const results = Array.from({ length: 40 }, (_, i) => ({
      input: 'Why?',
      output: `${i}`,
      expected: 'x',
    }))

    const { aggregate } = await compare('first_wins', { position_swap: false }, results)

    expect(judging.server.calls).toHaveLength(40)
    expect(aggregate.mean).toBeGreaterThan(0.2)
    expect(aggregate.mean).toBeLessThan(0.8)
    expect(aggregate.metadata).not.toHaveProperty('position_inconsistency_rate')
  })

  it('must both be there', async () => {
    const { scores } = await judging.judge('longer_wins', { mode: 'pairwise' })

    expect(scores[0]?.error).toEqual({ code: 'missing_field', field: 'expected' })
    expect(judging.server.calls).toEqual([])
  })
})

describe('the prompt of the judge', () => {
  const result = {
    input: 'q',
    output: { answer: 42 },
    expected: ['42', 'forty-two'],
    context: ['c1'],
    tool_calls: [{ name: 'search' }],
    trajectory: ['plan'],
    metadata: { secret: 'not for judges' },
    latency_ms: 7,
  }

  it('is each field that is there, as JSON, and nothing else of the result', async () => {
    await judging.judge('votes', { cache: 'off' }, [result])

    const { user } = judging.server.calls[0]!
    const blocks = [...user.matchAll(/field="(\w+)">(.*?)<\/untrusted>/g)]
    expect(blocks.map(([, name, json]) => [name, JSON.parse(json!)])).toEqual([
      ['input', 'q'],
      ['context', ['c1']],
      ['expected', ['42', 'forty-two']],
      ['tool_calls', [{ name: 'search' }]],
      ['trajectory', ['plan']],
      ['output', { answer: 42 }],
    ])
    expect(user).not.toContain('not for judges')
  })

  it('excludes the right answer with reference_free', async () => {
    await judging.judge('votes', { reference_free: true, cache: 'off' }, [result])

    const { system, user } = judging.server.calls[0]!
    expect(system + user).not.toContain('forty-two')
    expect(system).not.toContain('- expected')
  })

  it('has a limit: longer results get no score, and cost nothing', async () => {
    const long = { output: 'x', context: ['y'.repeat(200_001)] }

    const { scores } = await judging.judge('votes', {}, [long])

    expect(scores[0]?.error?.code).toBe('limit_exceeded')
    expect(judging.server.calls).toEqual([])
  })
})

describe('refusals before a call', () => {
  const refusal = (params: object, results: object[] = [{ output: 'x' }]) =>
    judging.api.refusal('runScorer', { body: judgeBody('good', params, results) })

  it.each<[path: string, params: object]>([
    ['params.judge', { judge: 'unknown' }],
    ['params.base_url', { base_url: 'http://10.0.0.1/v1' }],
    ['params.api_key', { api_key: 'sk' }],
    ['params.criteria', { criteria: '' }],
    ['params.criteria', { criteria: [] }],
    [
      'params.criteria',
      {
        criteria: [
          { name: 'a', description: 'x' },
          { name: 'a', description: 'y' },
        ],
      },
    ],
    ['params.criteria.0.name', { criteria: [{ name: '__proto__', description: 'x' }] }],
    ['params.choices._x', { choices: { _x: 1, b: 0, c: 0 } }],
    ['params.choices', { choices: { only: 1 } }],
    ['params.choices.worst', { choices: { best: 1, worst: -1 } }],
    ['params.choices', { mode: 'pairwise', choices: CHOICES }],
    ['params.position_swap', { position_swap: true }],
    ['params.reference_free', { mode: 'pairwise', reference_free: true }],
    ['params.samples', { samples: 10 }],
    ['params.samples', { samples: 0 }],
    ['params.deadline_ms', { deadline_ms: 130_000 }],
    ['params.max_cost_usd', { max_cost_usd: 0 }],
  ])('%s of %j', async (path, params) => {
    const problem = await refusal(params)

    expect(problem.code).toBe('invalid_params')
    expect(problem.errors?.map((error) => error.path)).toContain(path)
    expect(judging.server.calls).toEqual([])
  })

  it('more than 100 results', async () => {
    const results = Array.from({ length: 101 }, () => ({ output: 'x' }))

    expect(await refusal({}, results)).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'results' }],
    })
  })

  it('an organization whose plan does not reach it', async () => {
    const team = judging.api.as(await judging.api.remit.organization('team'))

    const problem = await team.refusal('runScorer', {
      body: judgeBody('good', {}, [{ output: 'x' }]),
    })

    expect(problem).toMatchObject({ code: 'plan_required', required_plan: 'enterprise' })
  })
})

describe('the catalogue', () => {
  it('contains only the aliases of the judges of this server', async () => {
    const { data } = await judging.api.ok('listScorers', { query: { limit: 100 } })

    const judge = data.find(({ name }) => name === 'llm_as_judge')!
    expect(judge).toMatchObject({ edition: 'enterprise', version: '1', default_threshold: 0.5 })
    const { properties } = judge.params as { properties: Record<string, { enum?: string[] }> }
    expect(properties['judge']?.enum).toContain('good')
    expect(JSON.stringify(data)).not.toContain(judging.server.url)
  })
})
