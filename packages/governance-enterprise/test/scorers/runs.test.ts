import { createHash } from 'node:crypto'
import { canonicalJson } from '@remit/contract/json'
import { createKey, endKey } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Api } from '../support/api.ts'
import { dump } from '../support/dump.ts'
import { judgeBody, SECRET, startJudging } from '../support/judging.ts'
import type { Judging } from '../support/judging.ts'

const RAW = 'what the customer said'

describe.each(someDialects())('runs of scorers in the ledger, on %s', (dialect) => {
  let judging: Judging
  let api: Api
  const lines: string[] = []
  beforeAll(async () => {
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    judging = await startJudging({ dialect, log, clock: createClock() })
  })
  beforeEach(async () => {
    api = judging.api.as(await judging.api.remit.organization())
    judging.server.forget()
  })
  afterAll(() => judging.close())

  const runs = async () =>
    (await api.ok('listEntries', { query: { kind: 'scorer.ran', order: 'asc' } })).data
  const keyId = async () => (await runs())[0]?.actor?.id ?? ''
  const run = (body: object) => api.ok('runScorer', { body })
  const judge = (params: object = {}, results: object[] = [{ input: RAW, output: RAW }]) =>
    run(judgeBody('good', params, results))

  it.each(['approver', 'read'] as const)(
    'a key with the role %s may not call a judge',
    async (role) => {
      const { org, remit } = api
      const limited = api.as({ ...org, key: await remit.key(org.id, role) })
      const results = [{ output: 'a', expected: 'a' }]

      expect(
        await limited.ok('runScorer', { body: { scorer: 'exact_match', results } }),
      ).toBeDefined()
      expect(
        (await limited.refusal('runScorer', { body: judgeBody('good', {}, results) })).code,
      ).toBe('role_required')
      expect(judging.server.calls).toEqual([])
    },
  )

  it('are one entry each, with numbers and a hash and no text', async () => {
    const results = [
      { id: 'r1', output: RAW, expected: RAW },
      { output: RAW, expected: 'other' },
      { output: RAW },
    ]
    const params = { ignore_case: true }

    const { scorer_version, threshold } = await run({ scorer: 'exact_match', params, results })

    const [entry, ...others] = await runs()
    expect(others).toEqual([])
    const scorer = 'exact_match'
    const hashed = [{ params, scorer, scorer_version, threshold }, ...results]
    expect(entry).toMatchObject({ agent_id: null, action: null, actor: { type: 'key' } })
    expect(entry!.data).toEqual({
      scorer,
      version: scorer_version,
      threshold,
      count: 3,
      scored: 2,
      failed: 1,
      mean: 0.5,
      pass_rate: 0.5,
      errors_by_code: { missing_field: 1 },
      content_hash: createHash('sha256')
        .update(hashed.map((one) => `${canonicalJson(one)}\n`).join(''))
        .digest('hex'),
    })
    expect(JSON.stringify(entry)).not.toContain(RAW)
  })

  it('have what a judge cost and used', async () => {
    await judge({ samples: 3 })

    const [entry] = await runs()
    expect(entry!.data).toMatchObject({
      scorer: 'llm_as_judge',
      count: 1,
      mean: 1,
      cost_usd: 0.0075,
      facts: {
        judge: 'good',
        model: 'good',
        usage: { calls: 3, input_tokens: 3000, output_tokens: 300, cached_tokens: 600 },
      },
    })
    expect(JSON.stringify(entry)).not.toMatch(new RegExp(`${RAW}|Because|The answer is right`))
  })

  it('are many in one commit when they come together, none lost', async () => {
    const body = { scorer: 'exact_match', results: [{ output: 'a', expected: 'a' }] }

    await Promise.all(Array.from({ length: 20 }, () => run(body)))

    expect(await runs()).toHaveLength(20)
  })

  it('are not there for a request that is refused', async () => {
    await api.refusal('runScorer', { body: { scorer: 'nope', results: [{}] } })
    await api.refusal('runScorer', { body: judgeBody('nope', {}, [{ output: 'x' }]) })

    expect(await runs()).toEqual([])
  })

  it('count as spend of the calling key, and reach its limit', async () => {
    await run({ scorer: 'exact_match', results: [{ output: 'a', expected: 'a' }] })
    const id = await keyId()
    await api.ok('setSpendLimit', { params: { id }, body: { daily_usd: 0.01 } })

    await judge({}, [{ output: '1' }, { output: '2' }])

    const { spent } = await api.ok('getSpendLimit', { params: { id } })
    expect(spent.day.usd).toBe(0.005)
    const { data } = await api.ok('listEntries', { query: { kind: 'spend.threshold' } })
    expect(data).toMatchObject([
      { agent_id: id, data: { threshold_percent: 50, spent_usd: 0.005 } },
    ])
    const asked = { agent_id: id, action: 'a.b', context: { amount_usd: 0.006 } }
    expect(await api.ok('authorize', { body: asked })).toMatchObject({
      decision: 'deny',
      reason: 'spend_limit_daily',
    })
  })

  it('cost nothing when every verdict is known', async () => {
    await judge()
    await judge()

    const [, second] = await runs()
    expect(second!.data).toMatchObject({ cost_usd: 0, facts: { cached_calls: 1 } })
  })

  it('are recorded although the key was revoked meanwhile: the money is spent', async () => {
    const { writer } = api.remit
    const { id, secret: key } = await createKey(writer, api.org.id, { role: 'ingest' })
    judging.server.scripts['steady'] = async (exchange) => {
      await endKey(writer, api.org.id, id)
      await judging.server.scripts['good']!(exchange)
    }

    await api.call('runScorer', { key, body: judgeBody('steady', {}, [{ output: '1' }]) })

    const after = await api.refusal('runScorer', { key, body: judgeBody('good', {}, [{}]) })
    expect(after.code).toBe('unauthorized')
    expect((await runs())[0]).toMatchObject({ actor: { id }, data: { cost_usd: 0.0025 } })
  })

  it('are answered with 503 when they cannot be recorded; the verdicts are kept', async () => {
    const { db } = judging.api.remit
    await sql`update ledger_head set vkey = 'another' where org_id = ${api.org.id}`.execute(db)

    const problem = await api.refusal('runScorer', {
      body: judgeBody('good', {}, [{ output: 'kept' }]),
    })

    expect(problem.code).toBe('ledger_unavailable')
    const { judge_verdict: kept } = await dump(db, api.org.id)
    expect(kept).toHaveLength(1)
  })

  it('leave the key of the judge nowhere', async () => {
    await judge()
    await run(judgeBody('unauth', {}, [{ output: 'x' }]))
    await run(judgeBody('reset', { max_retries: 0 }, [{ output: 'x' }]))
    const catalogue = await api.ok('listScorers', { query: { limit: 100 } })

    const seen = judging.server.calls.filter(({ headers }) => headers.authorization)
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`)).toBe(true)
    expect(lines.join('')).not.toContain('sk-judge')
    expect(JSON.stringify(catalogue)).not.toContain('sk-judge')
    expect(JSON.stringify(await dump(judging.api.remit.db, api.org.id))).not.toContain('sk-judge')
  })
})
