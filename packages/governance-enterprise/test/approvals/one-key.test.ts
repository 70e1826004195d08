import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { another, ask, decide, kinds, read, setRule, TRANSFER } from '../support/approvals.ts'

const EVALUATION = {
  subject: { type: 'agent', id: 'payer' },
  action: { name: 'payments.transfer' },
  resource: { type: 'account', id: '1' },
  context: { amount: 5000 },
}

describe.each(someDialects())('one Idempotency-Key from request to allow, on %s', (dialect) => {
  let clock: TestClock
  let first: Api
  let second: Api | null = null
  let api: Api
  /** Another process where the database allows one. */
  let other: Api
  beforeAll(async () => {
    clock = createClock()
    first = await createApi({ dialect, clock })
    if (dialect === 'postgres') second = await another(first, clock)
  })
  afterAll(async () => {
    await second?.remit.close()
    await first.remit.close()
  })
  beforeEach(async () => {
    const org = await first.remit.organization()
    api = first.as(org)
    other = second?.as(org) ?? api
    await setRule(api)
  })

  const keyed = (name: string, body: object = TRANSFER) => ({
    body,
    headers: { 'idempotency-key': name },
  })
  const pay = (name = 'payment', by = api) => by.ok('authorize', keyed(name))
  const opened = async (name = 'payment'): Promise<string> => (await pay(name)).request_id!
  const decisions = async () =>
    (await api.ok('listEntries', { query: { kind: 'authorization.decided' } })).data.length

  it('repeats the answer while the approval is pending, and records nothing more', async () => {
    const before = await pay()
    const again = await other.call('authorize', keyed('payment'))

    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await again.json()).toEqual(before)
    expect(await decisions()).toBe(1)
  })

  it('allows once approved, and repeats that allow', async () => {
    await decide(api, await opened())

    const response = await other.call('authorize', keyed('payment'))
    const allow = await response.json()

    expect(allow).toMatchObject({ decision: 'allow', reason: 'approved' })
    expect(response.headers.get('idempotency-replayed')).toBeNull()
    const repeat = await api.call('authorize', keyed('payment'))
    expect(repeat.headers.get('idempotency-first-request-id')).toBe(
      response.headers.get('x-request-id'),
    )
    expect(await repeat.json()).toEqual(allow)
    expect(await kinds(api)).toEqual([
      'approval.requested',
      'approval.decided',
      'approval.consumed',
    ])
  })

  it('allows one of many repeats, on every process, after one vote', async () => {
    await decide(api, await opened())

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? api : other).call('authorize', keyed('payment')),
      ),
    )

    type Body = { decision_id?: string; decision?: string; code?: string }
    const said = await Promise.all(
      answers.map(async (answer) => {
        const { decision_id, decision, code } = (await answer.json()) as Body
        return code ?? `${decision} ${decision_id}`
      }),
    )
    const [allow, ...others] = new Set(said.filter((one) => one !== 'idempotency_in_progress'))
    expect(allow).toMatch(/^allow dec_/)
    expect(others).toEqual([])
    expect((await kinds(api)).filter((kind) => kind === 'approval.consumed')).toHaveLength(1)
  })

  it('repeats a rejection', async () => {
    await decide(api, await opened(), { decision: 'reject' })

    const denied = await pay()

    expect(denied).toMatchObject({ decision: 'deny', reason: 'approval_rejected' })
    expect(await pay('payment', other)).toEqual(denied)
  })

  it.each([
    [
      'expired',
      async () => {
        clock.advance(3_600_000)
      },
    ],
    ['was cancelled', (id: string) => api.ok('cancelApproval', { params: { id } })],
    [
      'was used by another request',
      async (id: string) => {
        await decide(api, id)
        await ask(api)
      },
    ],
  ])('asks people anew if the approval %s', async (_, end) => {
    await setRule(api, { request_ttl_seconds: 3_600 })
    const id = await opened()
    await end(id)

    const later = await pay()

    expect(later).toMatchObject({ decision: 'needs_approval' })
    expect(later.request_id).not.toBe(id)
  })

  it('gives each of two equal payments an approval of its own', async () => {
    const id = await opened('one')
    expect(await opened('two')).toBe(id)
    await decide(api, id)

    expect(await pay('one')).toMatchObject({ decision: 'allow' })
    const { decision, request_id } = await pay('two')
    expect(decision).toBe('needs_approval')
    await decide(api, request_id!)
    expect(await pay('two')).toMatchObject({ decision: 'allow' })
  })

  it('stays the key of one request: another body is refused, before and after the vote', async () => {
    const changed = keyed('payment', { ...TRANSFER, context: { amount: 1 } })
    const id = await opened()
    expect((await api.refusal('authorize', changed)).code).toBe('idempotency_mismatch')
    await decide(api, id)

    expect((await api.refusal('authorize', changed)).code).toBe('idempotency_mismatch')
    expect(await read(api, id)).toMatchObject({ status: 'approved' })
  })

  it('does so for an evaluation of AuthZEN', async () => {
    const evaluate = () => api.ok('accessEvaluation', keyed('evaluation', EVALUATION))
    const { decision, context } = await evaluate()
    expect(decision).toBe(false)
    expect(await evaluate()).toEqual({ decision, context })
    await decide(api, context.approval!.id)

    const allowed = await evaluate()
    expect(allowed).toMatchObject({ decision: true, context: { reason: 'approved' } })
    expect(await evaluate()).toEqual(allowed)
  })

  it.each([
    ['several evaluations', { ...EVALUATION, evaluations: [{}, { action: { name: 'read' } }] }, 2],
    ['an evaluation without a list', EVALUATION, 1],
  ])('does so for a request of %s, which decides the others once', async (_, body, count) => {
    const evaluate = async () => {
      const answer = await api.ok('accessEvaluations', keyed('evaluations', body))
      return 'evaluations' in answer ? answer.evaluations : [answer]
    }
    const [pending, ...rest] = await evaluate()
    expect(await evaluate()).toEqual([pending, ...rest])
    expect(await decisions()).toBe(count)
    await decide(api, pending!.context.approval!.id)

    const [allowed, ...same] = await evaluate()

    expect(allowed).toMatchObject({ decision: true, context: { reason: 'approved' } })
    expect(same).toEqual(rest)
    expect(await evaluate()).toEqual([allowed, ...rest])
    expect(await decisions()).toBe(count + 1)
  })
})
