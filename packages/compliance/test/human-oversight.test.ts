import { describe, expect, test } from 'vitest'
import { CATALOGUES } from '../src/catalogue/catalogue.ts'
import { contentOf } from '../src/report/document.ts'
import { basisOf } from '../src/report/status.ts'
import type { EntryInput } from './support/by-hand.ts'
import { approval, BO, change, day } from './support/entries.ts'
import { check, factsOf } from './support/facts.ts'
import { goodLedger } from './support/good-ledger.ts'

/** The controls about human oversight that are not manual. */
const OVERSIGHT = [
  'Art. 14(1)',
  'Art. 14(2)',
  'Art. 14(3)',
  'Art. 14(4)(b)',
  'Art. 14(4)(d)',
  'Art. 26(2)',
  'GOVERN 3.2',
  'MAP 3.5',
]

/** An organization that does everything well, with approval rules but without requests. */
const QUIET = goodLedger().filter(
  ({ kind, data }) => !kind.startsWith('approval.') && data?.['approval'] === undefined,
)
const SHARED = { type: 'key', id: BO.id, named: false }
const STATED = { type: 'person', id: 'bo@example.org', named: false }

const requests = (
  count: number,
  given: Parameters<typeof approval>[2],
  days = count,
): EntryInput[] =>
  Array.from({ length: count }, (_, i) =>
    approval(20 + (i * days) / count, `apr_${i}`, given),
  ).flat()

const refusals = (count: number): EntryInput[] =>
  Array.from({ length: count }, (_, i) =>
    approval(60 + i, `apr_no_${i}`, { vote: 'reject' }),
  ).flat()

/** Requests that nobody answers, and the entries that record their end. */
const expired = (count: number, first = 20): EntryInput[] =>
  Array.from({ length: count }, (_, i) => {
    const [decision, request] = approval(first + i, `apr_late_${i}`, { vote: null })
    const { approval: object } = request!.data as { approval: { expires_at: string } }
    const ended = { approval: { ...object, status: 'expired' } }
    return [
      decision!,
      request!,
      { ...request!, at: object.expires_at, kind: 'approval.expired', data: ended },
    ]
  }).flat()

function oversight(said: readonly EntryInput[]): Map<string, string> {
  const facts = factsOf([...QUIET, ...said])
  const controls = [...CATALOGUES.values()].flatMap((catalogue) => {
    const categories = Object.keys(catalogue.framework.groups ?? {})
    return contentOf(catalogue, { categories, role: null }, facts).controls
  })
  return new Map(
    controls.filter(({ id }) => OVERSIGHT.includes(id)).map(({ id, status }) => [id, status]),
  )
}

const satisfied = (said: readonly EntryInput[]): string[] =>
  [...oversight(said)].filter(([, status]) => status === 'satisfied').map(([id]) => id)

describe('a control about human oversight', () => {
  test.each<[string, readonly EntryInput[]]>([
    ['rules without a request', []],
    ['requests that nobody answered', expired(30)],
    ['approvals by a key that names nobody', requests(30, { by: SHARED })],
    ['refusals by a key that names nobody', requests(30, { by: SHARED, vote: 'reject' })],
    ['votes for which the request states a name', requests(30, { by: STATED })],
    [
      'refusals by a key that names nobody and a request that nobody answered',
      [...requests(10, { by: SHARED, vote: 'reject' }), ...expired(1, 40)],
    ],
    ['nine votes of a named person', requests(9, {})],
    ['thirty votes of a named person on one day', requests(30, {}, 1)],
    ['thirty votes of a named person on six days', requests(30, {}, 6)],
  ])('is not carried by %s', (_, said) => {
    expect(satisfied(said)).toEqual([])
  })

  test('is not carried by the key of a person who was disabled or removed, until enabled again', () => {
    const member = { id: 'per_bo', email: 'bo@example.org' }
    const event = (days: number, kind: string, status = 'active') =>
      change(day(days), kind, { member: { ...member, status } })
    const voted = [event(1, 'person.invited'), ...requests(20, {}, 7), refusals(1)].flat()

    expect(satisfied(voted)).toEqual(OVERSIGHT)
    for (const kind of ['person.disabled', 'person.removed']) {
      const after = [...voted, event(2, kind)]
      const renamed = event(3, 'person.updated', 'disabled')
      expect(satisfied([...after, renamed])).toEqual(['Art. 14(4)(b)'])
      expect(check(factsOf([...QUIET, ...after]), 'APR-3')).toMatchObject({
        ok: false,
        failures: [
          { params: { n: 21, by: 'with the key of a person who was disabled or removed (21)' } },
        ],
      })
      expect(satisfied([...after, event(3, 'person.updated')])).toEqual(OVERSIGHT)
    }
  })

  test('about approvals is not carried by those of one day, and refusals on seven others', () => {
    // These two are about votes of any kind.
    expect(satisfied([...requests(30, {}, 1), ...refusals(7)])).toEqual([
      'Art. 14(4)(d)',
      'Art. 26(2)',
    ])
  })

  test.each([20, 7])('is carried by twenty votes of a named person on %i days', (days) => {
    const refused = approval(60, 'apr_no', { vote: 'reject' })

    expect(satisfied([...requests(20, {}, days), ...refused])).toEqual(OVERSIGHT)
  })
})

test.each<[string, boolean, readonly EntryInput[]]>([
  ['the vote of a named person', true, requests(1, {})],
  ['the refusal of a named person', true, requests(1, { vote: 'reject' })],
  ['the vote of a key that names nobody', false, requests(1, { by: SHARED })],
  ['a vote for which the request states a name', false, requests(1, { by: STATED })],
  ['a request that nobody answered', false, expired(1)],
])('%s is a human decision: %j', (_, operated, said) => {
  const { evidence } = factsOf([...QUIET, ...said])
  expect(evidence.find(({ kind }) => kind === 'approval_decisions')?.operated).toBe(operated)
})

test('requests from before the period are cases of APR-2, and add no day', () => {
  const open = Array.from({ length: 12 }, (_, i) =>
    approval(-2 + i / 100, `apr_open_${i}`, { vote: null, expiresAfterDays: 10 }),
  ).flat()

  expect(check(factsOf([...QUIET, ...open, ...requests(6, {})]), 'APR-2')).toMatchObject({
    population: 18,
    days: 6,
  })
})

describe('a check of votes', () => {
  const facts = factsOf([...QUIET, ...requests(12, {}), ...requests(3, { by: SHARED })])

  test.each([
    ['APR-1', 15, { named: 12, unnamed: 3 }],
    ['APR-3', 15, { named: 12, unnamed: 3 }],
    ['APR-5', 12, { unnamed: 3 }],
    ['APR-7', 12, {}],
    ['CHG-3', 15, {}],
  ])(
    '%s needs a number of votes of named people, and prints the others',
    (id, population, value) => {
      const outcome = check(facts, id)!
      expect(outcome).toMatchObject({ population, value })
      expect(basisOf(outcome)).toBe(12)
    },
  )
})
