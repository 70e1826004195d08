import { describe, expect, it } from 'vitest'
import type { EntryInput } from './support/by-hand.ts'
import { BO, agent, approval, day, decision, organization, signedIn } from './support/entries.ts'
import { check, factsOf, metric, value } from './support/facts.ts'

const born = organization('organization.created', '2025-06-01')

/** An allow that says it rests on an approval. */
const resting = (at: string, id: string): EntryInput =>
  decision(at, {
    action: 'payments.large',
    reason: 'approved',
    data: { approval: { id, status: 'consumed' } },
  })

const failing = (said: readonly EntryInput[], id: string) =>
  check(factsOf([born, ...said]), id)?.failures.map(({ count }) => count)

describe('what was released', () => {
  it('is one case, whether it is approved or used in the period, or both', () => {
    // Approved on 31 December, used on 1 January; then one that is neither used nor lost.
    const early = approval(-1 / 24, 'apr_0').filter(({ kind }) => kind !== 'authorization.decided')
    const late = approval(3, 'apr_1', { isUsed: false })

    expect(metric(factsOf([born, ...approval(2, 'apr_2')]), 'M16')?.population).toBe(1)
    expect(value([born, ...early.slice(0, -1), resting(day(0, 1), 'apr_0')], 'M16')).toMatchObject({
      numerator: 1,
      denominator: 1,
    })
    expect(metric(factsOf([born, ...late]), 'M16')?.population).toBe(1)
  })

  it('was not released after a refusal or without an answer', () => {
    const refused = [
      ...approval(2, 'apr_1', { vote: 'reject' }),
      ...approval(3, 'a', { vote: null }),
    ]

    expect(metric(factsOf([born, ...refused]), 'M16')).toMatchObject({ value: null, population: 0 })
    expect(check(factsOf([born, ...refused]), 'APR-1')).toMatchObject({ ok: true, population: 0 })
  })

  it('by a key without a named person was released without a person', () => {
    const by = { type: 'key', id: BO.id, named: false }
    expect(failing(approval(2, 'apr_1', { by }), 'APR-1')).toEqual([1])
    // The same where it was approved before the period, and is used in it.
    const early = approval(-1 / 24, 'apr_0', { by, isUsed: false })
    expect(failing([...early, resting(day(0, 1), 'apr_0')], 'APR-1')).toEqual([1])
  })

  it('is on the list of that time, not of later', () => {
    const list = (at: string, actions: string[]) =>
      organization('organization.updated', at, { consequential_actions: actions })
    const exported = (at: number) => decision(day(at), { action: 'data.export' })
    const said = [
      list(day(1), []),
      exported(2),
      list(day(3), ['*.export']),
      exported(4),
      list(day(5), ['data.import']),
      exported(6),
    ]

    expect(metric(factsOf([born, ...said]), 'M16')).toMatchObject({
      value: { numerator: 0, denominator: 1 },
    })
  })

  it('is the same request only with the same context, of which `approval` is no part', () => {
    const asked = (context: object, binding_context: string[] | null = null) =>
      approval(2, 'apr_1', { vote: null }).map((one): EntryInput => {
        const { approval: request } = (one.data ?? {}) as { approval?: object }
        return one.kind === 'approval.requested'
          ? { ...one, data: { approval: { ...request, context, binding_context } } }
          : one
      })
    const then = (context: object) =>
      decision(day(3), { action: 'payments.large', data: { context } })
    const released = (...said: readonly EntryInput[]) =>
      metric(factsOf([born, ...said]), 'M16')?.population

    expect(released(...asked({ to: 'a' }), then({ to: 'a', approval: { id: 'x' } }))).toBe(1)
    expect(released(...asked({ to: 'a' }), then({ to: 'b' }))).toBe(0)
    expect(released(...asked({ to: 'a', n: 1 }, ['to']), then({ to: 'a', n: 2 }))).toBe(1)
    expect(released(...asked({ to: 'a' }), { ...then({ to: 'a' }), agent_id: 'other' })).toBe(0)
  })
})

describe('an allow that rests on an approval', () => {
  const approved = approval(2, 'apr_1', { isUsed: false })
  const pending = approval(2, 'apr_1', { vote: null, expiresAfterDays: 30 })

  it.each<[string, readonly EntryInput[], number[]]>([
    ['approved and in time', [...approved, resting(day(2, 2), 'apr_1')], []],
    ['used before', [...approval(2, 'apr_1'), resting(day(3, 3), 'apr_1')], [1]],
    ['approved, and past its end', [...approved, resting(day(5), 'apr_1')], [1]],
    ['pending', [...pending, resting(day(3), 'apr_1')], [1]],
    ['rejected', [...approval(2, 'apr_1', { vote: 'reject' }), resting(day(3), 'apr_1')], [1]],
    ['that was never asked for', [resting(day(3), 'apr_1')], [1]],
    // The erased entry may have been the vote.
    [
      'whose decision was erased',
      [
        ...approved.map((one) => ({ ...one, erased: one.kind === 'approval.decided' })),
        resting(day(3), 'apr_1'),
      ],
      [],
    ],
  ])('%s', (_, said, expected) => {
    expect(failing(said, 'APR-2')).toEqual(expected)
  })

  it('and its request are one of the population, also where it is from before', () => {
    const facts = factsOf([
      born,
      ...approval(-1 / 24, 'a', { isUsed: false }),
      resting(day(0, 1), 'a'),
    ])
    expect(check(facts, 'APR-2')).toMatchObject({ population: 1, ok: true })
  })
})

describe('time', () => {
  it('expires at the end of the request, whenever it is recorded', () => {
    // One ended on 31 December, and was noticed in the period; one ends on 31 March, unnoticed.
    const ended = approval(-2, 'apr_0', { vote: null })
    const [, request] = ended
    const noticed = { ...request!, at: day(0, 1), kind: 'approval.expired' }
    const unnoticed = approval(88, 'apr_1', { vote: null })

    expect(value([born, ...ended, noticed, ...unnoticed], 'M19')).toMatchObject({
      pending: 0,
      expired: 1,
    })
  })

  it('72 hours are not too long, and more are', () => {
    const waiting = (at: number) => approval(at, 'apr_1', { vote: null, expiresAfterDays: 30 })

    expect(failing(waiting(87), 'APR-4')).toEqual([])
    expect(failing(waiting(86.99), 'APR-4')).toEqual([1])
  })

  it('expired requests without any answered one are not in time', () => {
    const ignored = [approval(2, 'apr_1', { vote: null }), approval(4, 'apr_2', { vote: null })]
    const ended = ignored.map(([, request], i): EntryInput => {
      const { approval: told } = request!.data as { approval: { expires_at: string } }
      const more = { approval: { ...told, status: 'expired' } }
      return {
        ...request!,
        at: told.expires_at,
        kind: 'approval.expired',
        data: more,
        agent_id: `${i}`,
      }
    })
    const said = [...ignored.flat(), ...ended]

    expect(check(factsOf([born, ...said]), 'APR-4')).toMatchObject({
      population: 2,
      ok: false,
      value: { p95_seconds: null },
      failures: [
        { params: { decided: '0% of 2 were decided within 24 hours', n: 0, expired: 2 }, count: 2 },
      ],
    })
    // Two of 40 are 5 %; two of 39 are more.
    const answered = Array.from({ length: 38 }, (_, i) => approval(8 + i, `apr_ok_${i}`))
    const beside = (count: number) =>
      check(factsOf([born, ...said, ...answered.slice(0, count).flat()]), 'APR-4')
    expect(beside(38)).toMatchObject({ ok: true, value: { expired: 2 } })
    expect(beside(37)).toMatchObject({
      ok: false,
      failures: [
        { params: { decided: '94.9% of 39 were decided within 24 hours' }, fixedBy: null },
      ],
    })
  })

  it('an unused approval is an answered request', () => {
    const said = approval(2, 'apr_1', { isUsed: false })
    const decided = said.at(-1)!
    const expired = { ...decided, at: day(5), kind: 'approval.expired' }

    expect(value([born, ...said, expired], 'M19')).toMatchObject({ expired: 0, pending: 0 })
  })
})

describe('an approver', () => {
  const votes = (given: Parameters<typeof approval>[2], more: object = {}) =>
    approval(2, 'apr_1', given).map((one): EntryInput => {
      const { approval: request, ...rest } = (one.data ?? {}) as { approval?: object }
      const isRequest = request !== undefined && one.kind !== 'authorization.decided'
      return isRequest ? { ...one, data: { ...rest, approval: { ...request, ...more } } } : one
    })
  const person = (id: string, named = true) => ({ type: 'person', id, named })
  const session = (id: string, email: string) => ({ by: { ...person(id), email }, with: id })
  const known = [
    born,
    agent('2025-06-02', 'payer'),
    agent('2025-06-02', 'sailor', {
      owners: [{ type: 'user', id: 'eve', email: 'eve@example.org' }],
    }),
    signedIn('2025-07-01', 'per_eve', 'eve@example.org'),
    signedIn('2025-08-01', 'per_eve', 'eve@married.example'),
  ]

  it.each([
    ['a person with no part in it', {}, {}, { count: 0, asserted: 0 }],
    [
      'a person whom only the request names',
      { by: person('cy', false) },
      {},
      { count: 1, unnamed: 1, asserted: 1 },
    ],
    ['nobody in particular', { by: { type: 'key', id: BO.id, named: false } }, {}, { unnamed: 1 }],
    ['an owner by e-mail', { by: person('ADA@example.org') }, {}, { owner: 1, count: 1 }],
    ['an owner by name', { by: person('Ada') }, {}, { owner: 1 }],
    [
      'who asked, by name',
      {},
      { requested_by: { type: 'key', id: 'key_x', person: 'Bo@example.org' } },
      { requester: 1 },
    ],
    [
      'the key that asked, regardless of the name it states',
      { by: person('cy', false) },
      { requested_by: { type: 'key', id: BO.id, person: null } },
      { requester: 1 },
    ],
    ['for whom the agent acts', {}, { acting_for: 'bo@example.org' }, { requester: 1 }],
    [
      'a person in a session with no part in it',
      session('per_bo', 'bo@example.org'),
      {},
      { count: 0 },
    ],
    [
      'a person without an address, asked by another one without',
      session('per_bo', ''),
      { requested_by: { type: 'person', id: 'per_cy', person: '' } },
      { count: 0 },
    ],
    ['an owner in a session', session('per_ada', 'Ada@example.org'), {}, { owner: 1 }],
    [
      'an owner under a later address',
      session('per_eve', 'eve@married.example'),
      { agent_id: 'sailor' },
      { owner: 1 },
    ],
    [
      'who asked with a key and votes in a session',
      session('per_bo', 'bo@example.org'),
      { requested_by: { type: 'key', id: 'key_x', person: 'Bo@example.org' } },
      { requester: 1 },
    ],
    [
      'who asked in a session and votes with a key',
      { by: { ...person('per_bo'), email: 'bo@example.org' } },
      { requested_by: { type: 'person', id: 'per_bo', person: null } },
      { requester: 1 },
    ],
    [
      'for whom the agent acts, in a session',
      session('per_bo', 'bo@example.org'),
      { acting_for: 'bo@example.org' },
      { requester: 1 },
    ],
    [
      'who asked before the address changed',
      session('per_eve', 'eve@married.example'),
      { requested_by: { type: 'key', id: 'key_x', person: 'eve@example.org' } },
      { requester: 1 },
    ],
  ])('is %s', (_, given, more, expected) => {
    expect(value([...known, ...votes(given, more)], 'M22')).toMatchObject(expected)
  })

  it('an approver who always approves within seconds fails the check', () => {
    const many = (count: number, after: number) =>
      Array.from({ length: count }, (_, i) => approval(10 + i / 10, `apr_${i}`, { after })).flat()

    expect(failing(many(50, 9), 'APR-5')).toEqual([50])
    expect(failing(many(49, 9), 'APR-5')).toEqual([])
    expect(failing(many(50, 10), 'APR-5')).toEqual([])
    const refusal = approval(40, 'apr_no', { vote: 'reject' })
    expect(failing([...many(50, 9), ...refusal], 'APR-5')).toEqual([])
  })

  it('is counted once, with a key and in a session', () => {
    const said = [
      ...approval(10, 'apr_1'),
      ...approval(11, 'apr_2', session('per_bo', 'Bo@example.org')),
    ]

    expect(value([born, ...said], 'M21')).toMatchObject({ approvers: 1 })
  })

  it('decides 60 in an hour at most', () => {
    const inOneHour = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        approval(10, `apr_${i}`, { after: 60 + i, isUsed: false }),
      ).flat()

    expect(failing(inOneHour(60), 'APR-7')).toEqual([])
    expect(check(factsOf([born, ...inOneHour(62)]), 'APR-7')?.failures).toMatchObject([
      { params: { approver: 'bo@example.org', n: 62 }, count: 2 },
    ])
  })
})
