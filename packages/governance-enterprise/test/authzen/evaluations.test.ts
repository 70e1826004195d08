import { fail } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'
import type { ApiRequest } from '@remit/core/http'
import { defineModule } from '@remit/core/module'
import type { Deps } from '@remit/core/module'
import { createClock, createTestRemit, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { authzenRoutes } from '../../src/authzen/routes.ts'
import governance from '../../src/index.ts'
import { apiOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const subject = { type: 'agent', id: 'payer' }
const action = { name: 'docs.read' }
const untilDeny = { options: { evaluations_semantic: 'deny_on_first_deny' } }
const doc = (id: string, more: object = {}) => ({ resource: { type: 'doc', id }, ...more })

describe.each(someDialects())('POST /access/v1/evaluations on %s', (dialect) => {
  const clock = createClock()
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock })
    await api.ok('setSpendLimit', { params: { id: 'capped' }, body: { daily_usd: 10 } })
  })
  afterAll(() => api.remit.close())

  const send = (body: object, headers: Record<string, string> = {}) =>
    api.ok('accessEvaluations', { body, headers })
  /** The decisions of a request for several. */
  const ask = async (body: object, headers?: Record<string, string>) => {
    const answer = await send(body, headers)
    if (!('evaluations' in answer)) throw new Error('a single decision')
    return answer.evaluations
  }
  const head = () => api.remit.ledger.head(api.org.id)

  it('decides each and records each, in the order of the request', async () => {
    const { size } = await head()

    const decisions = await ask({ subject, action, evaluations: [doc('1'), doc('2'), doc('3')] })

    expect(decisions.map(({ decision }) => decision)).toEqual([true, true, true])
    const seqs = decisions.map(({ context }) => context?.ledger?.seq)
    expect(seqs).toEqual([size, size + 1, size + 2])
    const entries = await Promise.all(
      seqs.map((seq = -1) => api.ok('getEntry', { params: { seq } })),
    )
    expect(entries.map(({ resource }) => resource)).toEqual(['doc:1', 'doc:2', 'doc:3'])
  })

  it('are one batch: they share a commit, and later ones see what earlier ones hold', async () => {
    const evaluations = Array.from({ length: 12 }, (_, i) => doc(String(i)))
    const capped = { ...subject, id: 'capped' }

    const decisions = await ask({
      subject: capped,
      action,
      context: { amount_usd: 1 },
      evaluations,
    })

    expect(decisions.filter(({ decision }) => decision)).toHaveLength(10)
    expect(decisions.at(-1)?.context).toMatchObject({ reason: 'spend_limit_daily' })
    const roots = decisions.map(({ context }) => JSON.stringify(context?.ledger?.checkpoint))
    expect(new Set(roots).size).toBe(1)
  })

  it('end according to the semantic, without entries of later ones', async () => {
    const capped = { ...subject, id: 'broke' }
    await api.ok('setSpendLimit', { params: { id: 'broke' }, body: { daily_usd: 2 } })
    const amounts = (...usd: number[]) =>
      usd.map((amount_usd, i) => doc(String(i), { context: { amount_usd } }))
    const body = (evaluations_semantic: string, ...usd: number[]) => ({
      subject: capped,
      action,
      options: { evaluations_semantic, something_else: true },
      evaluations: amounts(...usd),
    })

    const denied = await ask(body('deny_on_first_deny', 1, 100, 1))
    const permitted = await ask(body('permit_on_first_permit', 100, 100, 1, 1))

    expect(denied.map(({ decision }) => decision)).toEqual([true, false])
    expect(permitted.map(({ decision }) => decision)).toEqual([false, false, true])
    const query = { agent_id: 'broke', kind: 'authorization.decided', order: 'asc' }
    const { data } = await api.ok('listEntries', { query })
    expect(data.map(({ decision }) => decision)).toEqual(['allow', 'deny', 'deny', 'deny', 'allow'])
  })

  it('an invalid evaluation is reported at its position, and the others are decided', async () => {
    const { size } = await head()

    const decisions = await ask({
      subject,
      action,
      evaluations: [doc('1'), {}, doc('*'), doc('2', { context: { agent: 'x' } }), 7],
    })

    expect(decisions.map(({ decision }) => decision)).toEqual([true, false, false, true, false])
    expect(decisions.map(({ context }) => context?.error?.status)).toEqual([
      undefined,
      400,
      400,
      undefined,
      400,
    ])
    expect(decisions[1]?.context?.error?.message).toContain('resource')
    expect((await head()).size).toBe(size + 2)
  })

  it.each([
    ['no evaluations', {}],
    ['an empty list of them', { evaluations: [] }],
  ])('is a single request with %s', async (_, more) => {
    expect(await send({ subject, action, ...doc('1'), ...more })).toMatchObject({
      decision: true,
      context: { reason: 'default_allow' },
    })
    const problem = await api.refusal('accessEvaluations', { body: { subject, action, ...more } })
    expect(problem.errors?.map(({ path }) => path)).toEqual(['resource'])
  })

  it.each([
    ['many', { evaluations: [doc('1'), {}] }],
    ['one', doc('1')],
  ])('repeats its answer to a repeated request, and decides once: %s', async (name, more) => {
    const headers = { 'idempotency-key': `evaluations-${name}` }
    const { size } = await head()

    const first = await send({ subject, action, ...more }, headers)
    const second = await send({ subject, action, ...more }, headers)

    expect(second).toEqual(first)
    expect((await head()).size).toBe(size + 1)
  })

  it.each([
    ['many', { evaluations: [doc('1'), {}, doc('2')] }, 2],
    ['many, up to the first deny', { ...untilDeny, evaluations: [doc('1'), doc('2')] }, 2],
    ['one', doc('1'), 1],
  ])('decides once if the stored response is gone: %s', async (name, more, decided) => {
    const headers = { 'idempotency-key': `ended-${name}` }
    const { size } = await head()
    const first = await send({ subject, action, ...more }, headers)
    // As a process leaves it that ends between the decisions and its answer.
    await api.remit.db
      .deleteFrom('idempotency_key')
      .where('key', '=', headers['idempotency-key'])
      .execute()

    const again = await send({ subject, action, ...more }, headers)

    expect(again).toEqual(first)
    expect((await head()).size).toBe(size + decided)
    const other = { subject, action, ...more, context: { other: true } }
    expect((await api.refusal('accessEvaluations', { body: other, headers })).code).toBe(
      'idempotency_mismatch',
    )
    expect((await head()).size).toBe(size + decided)
  })

  it.runIf(dialect === 'postgres')('decides once on two processes at the same moment', async () => {
    const { url, signingKey } = api.remit
    const second = await createTestRemit({ modules: [governance], url, signingKey, clock })
    const there = apiOf(second, api.org)
    await api.ok('setSpendLimit', { params: { id: 'twice' }, body: { daily_usd: 100 } })
    const body = {
      subject: { ...subject, id: 'twice' },
      action,
      context: { amount_usd: 1 },
      evaluations: [doc('1'), doc('2')],
    }

    for (let round = 0; round < 10; round++) {
      const { size } = await head()
      const headers = { 'idempotency-key': `twice-${round}` }
      const answers = await Promise.all(
        [api, there].map((on) => on.ok('accessEvaluations', { body, headers })),
      )
      expect(answers[0]).toEqual(answers[1])
      expect((await head()).size).toBe(size + 2)
    }

    const { spent } = await api.ok('getSpendLimit', { params: { id: 'twice' } })
    expect(spent.day.held_usd).toBe(20)
    await second.close()
  })

  it('without evaluations is one, and says what is missing', async () => {
    const { errors } = await api.refusal('accessEvaluations', {
      body: { subject: { id: 'a' } },
    })

    expect(errors).toEqual([
      { path: 'subject.type', message: 'is required: a string' },
      { path: 'action', message: 'is required: an object' },
      { path: 'resource', message: 'is required: an object' },
    ])
  })

  it('takes 1,000, and no more', async () => {
    const evaluations = Array.from({ length: 1_001 }, (_, i) => doc(String(i)))

    const problem = await api.refusal('accessEvaluations', {
      body: { subject, action, evaluations },
    })
    const decisions = await ask({ subject, action, evaluations: evaluations.slice(1) })

    expect([problem.status, problem.errors?.[0]?.path]).toEqual([400, 'evaluations'])
    expect(decisions.filter(({ decision }) => decision)).toHaveLength(1_000)
  })

  it.each([
    ['evaluations that are no list', { evaluations: {} }, 'evaluations'],
    [
      'a semantic that is none',
      { options: { evaluations_semantic: 'any' } },
      'options.evaluations_semantic',
    ],
    ['a default of another type', { subject: 'alice' }, 'subject'],
    ['a default context beyond its limits', { context: { a: 'x'.repeat(70_000) } }, 'context'],
  ])('400 for %s', async (_, more, path) => {
    const body = { subject, action, evaluations: [doc('1')], ...more }

    const problem = await api.refusal('accessEvaluations', { body })

    expect([problem.status, problem.errors?.map((error) => error.path)]).toEqual([400, [path]])
  })

  it('401 as a whole, without a key', async () => {
    const body = { subject, action, evaluations: [doc('1')] }

    expect((await api.call('accessEvaluations', { key: 'none', body })).status).toBe(401)
  })

  it('counts each of them against the rate limit of the key', async () => {
    const limited = await createApi({ dialect, rateLimit: 10 })
    const evaluations = Array.from({ length: 8 }, (_, i) => doc(String(i)))
    const body = { subject, action, evaluations }
    const first = await limited.call('accessEvaluations', { body })
    const second = await limited.call('accessEvaluations', { body })
    const refused = await limited.refusal('accessEvaluations', { body })
    await limited.remit.close()

    expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"key";r=2;t=1'])
    expect(second.status).toBe(200)
    expect(refused.code).toBe('rate_limited')
  })
})

it('the evaluations of a request start in turns of its organization, 16 at a time', async () => {
  let deps: Deps | undefined
  const observed = defineModule({
    ...governance,
    setup: (given) => governance.setup((deps = given)),
  })
  const remit = await createTestRemit({ modules: [observed] })
  onTestFinished(() => remit.close())
  const { id: orgId } = await remit.organization()
  const route = deps && authzenRoutes(deps).find(({ name }) => name === 'accessEvaluations')
  if (!route) throw new Error('no route')

  let turns = 0
  const { config_version: configVersion } = await remit.ledger.head(orgId)
  const principal = { type: 'key', id: 'key_1', role: 'ingest', person: null } as const
  const caller = { orgId, plan: 'enterprise', principal, configVersion } as const
  const request = {
    caller,
    claim: null,
    wantsNote: false,
    charge: () => Promise.resolve(),
    recheck: () => Promise.reject(fail('unauthorized')),
    turn: () => void turns++,
  } as Partial<ApiRequest<Caller>> as ApiRequest<Caller>
  const evaluations = Array.from({ length: 40 }, (_, i) => ({
    resource: { type: 'doc', id: String(i) },
  }))
  const body = { subject, action, evaluations }

  await route.handle({ params: {}, query: {}, body }, caller, request)

  expect(turns).toBe(3)
})
