import { createHash } from 'node:crypto'
import type { ResultToScore } from '@remit/contract'
import { ScorersAnswer } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fail } from '../base/errors.ts'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import type { Caller } from '../caller/caller.ts'
import { defineModule } from '../module/module.ts'
import type { FinishedRun, ScorerRuns } from './run.ts'
import { Unscorable, defineWaitingScorer } from './scorer.ts'
import type { ScoringContext } from './scorer.ts'

const asked: { results: readonly ResultToScore[]; context: ScoringContext }[] = []

/** Waits a moment; an output that is not a number is a fault of whom it asked. */
const oracle = defineWaitingScorer({
  name: 'oracle',
  version: '2',
  description: 'The output is the score',
  edition: 'enterprise',
  defaultThreshold: 0.5,
  params: z.strictObject({ lose: z.boolean().default(false), refuse: z.boolean().default(false) }),
  fields: { output: 'required' },
  maxResults: 5,
  async scoreAll(results, { lose, refuse }, context) {
    asked.push({ results, context })
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (refuse) throw fail('invalid_params', 'params.judge: is not one of this installation')
    const outcomes = results.map(({ output }) =>
      typeof output === 'number'
        ? { score: output, reason: 'as given' }
        : new Unscorable('oracle_silent', 'the oracle is silent', { metadata: { tokens: 3 } }),
    )
    return { outcomes: lose ? outcomes.slice(1) : outcomes, metadata: { tokens: 12 } }
  },
})

const told: { caller: Caller; run: FinishedRun }[] = []
const recorder: ScorerRuns = {
  async ran(caller, finished) {
    if (finished.threshold === 0.99) throw fail('ledger_unavailable')
    told.push({ caller, run: finished })
  },
}
const module = defineModule({
  name: 'oracle',
  setup: () => ({ scorers: [oracle], scorerRuns: recorder }),
})

let remit: TestRemit
beforeAll(async () => {
  remit = await createTestRemit({ modules: [module] })
})
afterAll(() => remit.close())

async function run(body: object) {
  const { id, key } = await remit.organization('free')
  const response = await remit.call('POST', '/v1/scorers', {
    key,
    body: { scorer: 'oracle', ...body },
  })
  return { id, status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('a scorer that has to wait', () => {
  it('gets the results that can be scored, and knows who asks', async () => {
    const { id, body } = await run({ results: [{ output: 0.25 }, {}, { id: 'x', output: 'abc' }] })
    const answer = ScorersAnswer.parse(body)

    expect(answer.scores.map(({ id: of, score, error }) => [of, score, error])).toEqual([
      [null, 0.25, null],
      [null, null, { code: 'missing_field', field: 'output' }],
      ['x', null, { code: 'oracle_silent' }],
    ])
    expect(answer.scores[2]!.metadata).toEqual({ tokens: 3 })
    expect(answer.aggregate).toMatchObject({
      scored: 1,
      errors: 2,
      errors_by_code: { missing_field: 1, oracle_silent: 1 },
      mean: 0.25,
      metadata: { tokens: 12 },
    })
    const { results, context } = asked.at(-1)!
    expect(results).toEqual([{ output: 0.25 }, { id: 'x', output: 'abc' }])
    expect(context.caller).toMatchObject({ orgId: id, plan: 'free' })
    expect(context.signal().aborted).toBe(false)
  })

  it('is not asked when nothing can be scored', async () => {
    const before = asked.length
    const { body } = await run({ results: [{}, { output: null }] })

    expect(ScorersAnswer.parse(body).aggregate).toMatchObject({ scored: 0, errors: 2 })
    expect(asked.length).toBe(before)
  })

  it('may refuse the whole request', async () => {
    const { status, body } = await run({ params: { refuse: true }, results: [{ output: 1 }] })

    expect([status, body['code']]).toEqual([400, 'invalid_params'])
  })

  it('may take fewer results than the endpoint', async () => {
    const { status, body } = await run({ results: Array.from({ length: 6 }, () => ({})) })

    expect([status, body['code']]).toEqual([400, 'invalid_request'])
    expect(body['errors']).toEqual([
      { path: 'results', message: 'oracle accepts at most 5 results' },
    ])
  })

  it('never has one result stand for another', async () => {
    const { status } = await run({
      params: { lose: true },
      results: [{ output: 1 }, { output: 0 }],
    })

    expect(status).toBe(500)
  })
})

describe('who is told of runs', () => {
  it('hears numbers and the hash of the content, and no text', async () => {
    const { id } = await run({
      results: [{ output: 0.25 }, { output: 'geheim' }, { output: 0.75 }],
    })
    const { caller, run: finished } = told.at(-1)!

    const lines = [
      '{"params":{},"scorer":"oracle","scorer_version":"2","threshold":0.5}',
      '{"output":0.25}',
      '{"output":"geheim"}',
      '{"output":0.75}',
    ]
    expect(caller.orgId).toBe(id)
    expect(finished).toEqual({
      scorer: 'oracle',
      scorerVersion: '2',
      threshold: 0.5,
      count: 3,
      failed: 1,
      scored: 2,
      mean: 0.5,
      passRate: 0.5,
      errorsByCode: { oracle_silent: 1 },
      metadata: { tokens: 12 },
      contentHash: createHash('sha256')
        .update(`${lines.join('\n')}\n`)
        .digest('hex'),
    })
    expect(JSON.stringify(finished)).not.toContain('geheim')
  })

  it('hears of the open scorers too, whatever part of the results they could score', async () => {
    await run({ scorer: 'exact_match', results: [{}] })

    expect(told.at(-1)!.run).toMatchObject({ scorer: 'exact_match', scored: 0, mean: null })
  })

  it('can keep a run from being answered that could not be recorded', async () => {
    const { status, body } = await run({ threshold: 0.99, results: [{ output: 1 }] })

    expect([status, body['code']]).toEqual([503, 'ledger_unavailable'])
  })
})
