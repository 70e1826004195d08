import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pino } from 'pino'
import type { ScriptName } from '../support/judge-scripts.ts'
import { judgeBody, startJudging } from '../support/judging.ts'
import type { Judging } from '../support/judging.ts'

interface Failing {
  readonly judge: ScriptName
  readonly code: string
  /** Requests that reach the server. */
  readonly calls: number
  readonly params?: object
}

const FAILURES: readonly Failing[] = [
  { judge: 'always500', code: 'judge_unavailable', calls: 3 },
  { judge: 'always429', code: 'judge_rate_limited', calls: 3 },
  { judge: 'unauth', code: 'judge_unauthorized', calls: 1 },
  { judge: 'always400', code: 'judge_unavailable', calls: 3 },
  { judge: 'redirects', code: 'judge_unavailable', calls: 1 },
  { judge: 'reset', code: 'judge_unavailable', calls: 2, params: { max_retries: 1 } },
  { judge: 'slow', code: 'judge_timeout', calls: 2, params: { timeout_ms: 100, max_retries: 1 } },
  {
    judge: 'dripping',
    code: 'judge_timeout',
    calls: 1,
    params: { timeout_ms: 150, max_retries: 0 },
  },
  { judge: 'huge', code: 'judge_invalid_output', calls: 1 },
  { judge: 'always_badjson', code: 'judge_invalid_output', calls: 2 },
  { judge: 'not_json', code: 'judge_invalid_output', calls: 2 },
  { judge: 'offmenu', code: 'judge_invalid_output', calls: 2 },
  { judge: 'twice', code: 'judge_invalid_output', calls: 2 },
  { judge: 'extra', code: 'judge_invalid_output', calls: 2 },
  { judge: 'truncated', code: 'judge_truncated', calls: 1 },
  { judge: 'refusal', code: 'judge_refused', calls: 1 },
]

describe.each(['openai_compatible', 'anthropic'] as const)(
  'a judge of %s that fails',
  (provider) => {
    let judging: Judging
    beforeAll(async () => {
      judging = await startJudging({ provider })
    })
    beforeEach(() => judging.server.forget())
    afterAll(() => judging.close())

    it.each(FAILURES)('$judge: no score, the code $code, $calls calls', async (failing) => {
      const answer = await judging.judge(failing.judge, failing.params)

      expect(answer.scores[0]).toMatchObject({
        score: null,
        passed: null,
        error: { code: failing.code },
        metadata: { judge: failing.judge, samples: [{ error: failing.code }] },
      })
      expect(answer.aggregate).toMatchObject({
        scored: 0,
        errors: 1,
        errors_by_code: { [failing.code]: 1 },
        mean: null,
        pass_rate: null,
        metadata: { usage: { calls: failing.calls } },
      })
      expect(judging.server.calls).toHaveLength(failing.calls)
    })

    it('leaves the mean of the others as it is', async () => {
      const results = [{ output: 'good' }, { output: 'BAD' }, { output: 'good' }]

      const { scores, aggregate } = await judging.judge('picky', {}, results)

      expect(scores.map(({ score }) => score)).toEqual([1, null, 1])
      expect(aggregate).toMatchObject({ count: 3, scored: 2, errors: 1, mean: 1, pass_rate: 1 })
      expect(aggregate.errors_by_code).toEqual({ judge_unavailable: 1 })
    })

    it('is called again after a temporary failure, at the requested time', async () => {
      const { scores } = await judging.judge('retry429', { cache: 'off' })

      const [first, second] = judging.server.calls
      expect(scores[0]).toMatchObject({ score: 1, metadata: { samples: [{ attempt: 2 }] } })
      expect(second!.at - first!.at).toBeGreaterThan(45)
      expect(second!.at - first!.at).toBeLessThan(15_000)
    })

    it('is called a third time after two temporary failures', async () => {
      const { scores } = await judging.judge('retry500', { cache: 'off' })

      expect(scores[0]).toMatchObject({ score: 1, metadata: { samples: [{ attempt: 3 }] } })
    })

    it('may say when to come back with a date', async () => {
      expect((await judging.judge('come_back_then')).scores[0]?.score).toBe(1)
      expect(judging.server.calls).toHaveLength(2)
    })

    it('gets the fault of its answer once, without the answer', async () => {
      const { scores } = await judging.judge('badjson', { cache: 'off' })

      const [first, second] = judging.server.calls
      expect(scores[0]).toMatchObject({ score: 1, metadata: { samples: [{ attempt: 2 }] } })
      expect(second!.system).toBe(first!.system)
      expect(second!.user.startsWith(first!.user)).toBe(true)
      expect(second!.user).toContain('it is not one JSON object')
      expect(second!.user).not.toContain('I think')
    })

    it('is paid for all the same: usage of failed calls counts', async () => {
      const { scores, aggregate } = await judging.judge('offmenu')

      // Twice 800 fresh tokens at 2, 200 cached at 0.5 and 100 written at 8 USD a million.
      const used = { usage: { input_tokens: 2000, output_tokens: 200, calls: 2 }, cost_usd: 0.005 }
      expect(scores[0]?.metadata).toMatchObject(used)
      expect(aggregate.metadata).toMatchObject(used)
    })

    it('is not called again after it refused the key', async () => {
      const strict = await startJudging({ provider, more: { concurrency: 1 } })
      const results = Array.from({ length: 10 }, (_, i) => ({ output: String(i) }))

      const { aggregate } = await strict.judge('unauth', {}, results)

      expect(aggregate.errors_by_code).toEqual({ judge_unauthorized: 10 })
      expect(strict.server.calls).toHaveLength(1)
      await strict.close()
    })
  },
)

describe('the time that a judge gets', () => {
  let judging: Judging
  beforeAll(async () => {
    judging = await startJudging()
  })
  beforeEach(() => judging.server.forget())
  afterAll(() => judging.close())

  it('ends with the deadline of the request, whatever is under way', async () => {
    const results = Array.from({ length: 20 }, (_, i) => ({ output: String(i) }))

    const { aggregate, duration_ms } = await judging.judge('slow', { deadline_ms: 300 }, results)

    expect(aggregate.errors_by_code).toEqual({ judge_timeout: 20 })
    expect(duration_ms).toBeGreaterThanOrEqual(295)
    // One answer of this judge takes 5 s.
    expect(duration_ms).toBeLessThan(4_500)
    expect(judging.server.calls.length).toBeLessThanOrEqual(8)
  })

  it('is not spent on a pause that would pass the deadline', async () => {
    const { scores, duration_ms } = await judging.judge('come_back_soon', { deadline_ms: 10_000 })

    expect(scores[0]?.error?.code).toBe('judge_unavailable')
    expect(duration_ms).toBeLessThan(15_000)
    expect(judging.server.calls).toHaveLength(1)
  })

  it('is not spent on a pause of more than 30 seconds', async () => {
    const { duration_ms } = await judging.judge('come_back_late')

    expect(duration_ms).toBeLessThan(15_000)
    expect(judging.server.calls).toHaveLength(1)
  })

  it('ends when the client disconnects; the spend is in the ledger', async () => {
    const { api, server } = await startJudging({ more: { concurrency: 1 } })
    const gone = new AbortController()
    server.scripts['steady'] = async (exchange) => {
      if (exchange.nth === 2) gone.abort()
      await judging.server.scripts['steady']!(exchange)
    }
    const results = Array.from({ length: 30 }, (_, i) => ({ output: String(i) }))

    await api.remit.app.request('/v1/scorers', {
      method: 'POST',
      signal: gone.signal,
      headers: { authorization: `Bearer ${api.org.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(judgeBody('steady', {}, results)),
    })

    await expect
      .poll(async () => (await api.ok('listEntries', { query: { kind: 'scorer.ran' } })).data)
      .toHaveLength(1)
    const { data } = await api.ok('listEntries', { query: { kind: 'scorer.ran' } })
    expect(data[0]?.data).toMatchObject({ count: 30, scored: 2, cost_usd: 0.005 })
    expect(server.calls).toHaveLength(3)
    await api.remit.close()
    await server.stop()
  })

  it('is logged without text of the server, which may quote the key', async () => {
    const lines: string[] = []
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const logged = await startJudging({ log })

    await logged.judge('unauth')

    const warnings = lines.filter((line) => line.includes('judge request was refused'))
    expect(warnings).toHaveLength(1)
    expect(JSON.parse(warnings[0]!)).toMatchObject({ judge: 'unauth', status: 401, level: 40 })
    expect(lines.join('')).not.toContain('sk-judge')
    await logged.close()
  })
})
