import { runs } from '@remit/testing/pure'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fold, reportQueryOf, SeqGatherer } from '../src/facts/index.ts'
import type { PeriodFacts } from '../src/facts/index.ts'
import { BAD_FACTS, GOOD_CHAIN, GOOD_REPORT } from './support/bad-facts.ts'
import { ms, rowsOf } from './support/by-hand.ts'
import type { EntryInput } from './support/by-hand.ts'
import { factsOf } from './support/facts.ts'
import { goodLedger } from './support/good-ledger.ts'
import { HAND_MADE } from './support/hand-made.ts'

const TO = ms('2026-04-01')

const GOOD = { said: goodLedger(), chain: GOOD_CHAIN, report: GOOD_REPORT }
const ledgers = [HAND_MADE, goodLedger(), ...Object.values(BAD_FACTS).map((bad) => bad(GOOD).said)]

/** Parts of ledgers, as if the rest had never been. */
const some = fc
  .tuple(fc.constantFrom(...ledgers), fc.infiniteStream(fc.boolean()))
  .map(([said, stream]) => said.filter(() => stream.next().value))

/** The same entries once more, later. */
const later = (said: readonly EntryInput[]): EntryInput[] =>
  said.map((one) => ({
    ...one,
    at: new Date(TO + (ms(one.at) - ms('2025-06-01'))).toISOString(),
  }))

interface Place {
  readonly object: object
  readonly name: string
}

/** Values that a reader of text, counts, amounts, times or lists may stumble over. */
const ODD = [
  null,
  true,
  1.5,
  -1,
  -5e-324,
  1e305,
  2 ** 53,
  '',
  '9'.repeat(40),
  '2026-99-99',
  '__proto__',
  [],
  {},
  [null],
  [[]],
  [{}],
  ['x'],
  [7],
  { id: 7, type: 'user' },
]

/** Every member of an object and of those in it. */
const placesIn = (object: object): Place[] =>
  Object.entries(object).flatMap(([name, value]: [string, unknown]) => [
    { object, name },
    ...(typeof value === 'object' && value !== null ? placesIn(value) : []),
  ])

describe('facts', () => {
  it('do not change by anything that is dated at the end of the period or later', () => {
    fc.assert(
      fc.property(some, some, (said, after) => {
        const before = said.filter(({ at }) => ms(at) < TO)
        expect(factsOf([...before, ...later(after)])).toEqual(factsOf(before))
      }),
      { numRuns: runs(30, 5) },
    )
  })

  it('point at entries that there are, and that tell of the check', () => {
    fc.assert(
      fc.property(some, (said) => {
        const first = 1000
        const known = new Map(rowsOf(said, first).map((row) => [row.seq, ms(row.recorded_at)]))
        const { checks, evidence } = factsOf(said, undefined, first)
        const seqs = [
          ...checks.flatMap(({ failures }) => failures.flatMap((failure) => failure.seqs)),
          ...evidence.flatMap(({ sample }) => sample),
        ]
        for (const seq of seqs) expect(known.get(seq)).toBeLessThan(TO)
      }),
      { numRuns: runs(30, 5) },
    )
  })

  it('fail only over a population, and over none there is nothing to point at', () => {
    fc.assert(
      fc.property(some, (said) => {
        for (const { check, population, ok, failures } of factsOf(said).checks) {
          expect(ok, check).toBe(failures.length === 0)
          expect(ok || population > 0, check).toBe(true)
        }
      }),
      { numRuns: runs(30, 5) },
    )
  })

  it('are made from a ledger with any values in the places of others', () => {
    const value = fc.oneof(fc.constantFrom(...ODD), fc.jsonValue())
    const change = fc.record({ entry: fc.nat(), place: fc.nat(), value })
    const changes = fc.array(change, { minLength: 20, maxLength: 60 })
    fc.assert(
      fc.property(fc.nat({ max: ledgers.length - 1 }), changes, (ledger, all) => {
        const tampered = structuredClone(ledgers[ledger] ?? [])
        for (const { entry, place, value: odd } of all) {
          const places = placesIn(tampered[entry % tampered.length]?.data ?? {})
          const at = places[place % places.length]
          // A copy: a value that stands twice would be changed at both places, or hold itself.
          if (at) Object.assign(at.object, { [at.name]: structuredClone(odd) })
        }
        expect(factsOf(tampered).checks.length).toBeGreaterThan(0)
      }),
      { numRuns: runs(300, 20) },
    )
  })

  it('hold no fraction as a number', () => {
    const numbersIn = (value: unknown): number[] => {
      if (typeof value === 'number') return [value]
      return typeof value === 'object' && value !== null
        ? Object.values(value).flatMap(numbersIn)
        : []
    }
    for (const said of ledgers) {
      const { metrics, checks } = factsOf(said)
      for (const number of numbersIn([metrics, checks])) expect(number).toSatisfy(Number.isInteger)
    }
  })
})

describe('all entries behind', () => {
  const rows = (said: readonly EntryInput[]) => rowsOf(said)

  function collected(
    said: readonly EntryInput[],
    of:
      | { readonly check: string }
      | { readonly kinds: readonly PeriodFacts['evidence'][number]['kind'][] },
  ): number[] {
    const seqs: number[] = []
    for (;;) {
      const into = new SeqGatherer(seqs.at(-1) ?? null, 60)
      const period = { orgId: 'org_acme', from: ms('2026-01-01'), to: TO }
      const fold = new Fold(reportQueryOf(period), { collect: { ...of, into } })
      for (const row of rows(said)) fold.entry(row)
      fold.end({ chain: GOOD_CHAIN, reports: [GOOD_REPORT] })
      seqs.push(...into.run.seqs)
      if (into.run.isWhole) return seqs
    }
  }

  // These do not find an entry: verification, a setting, or stored rows.
  const OUTSIDE = new Set(['LED-1', 'LED-2', 'LED-4', 'LED-7', 'REP-1'])

  it.each(Object.keys(BAD_FACTS).filter((check) => !OUTSIDE.has(check)))(
    '%s are as many as its findings say, part by part',
    (check) => {
      const { said } = BAD_FACTS[check]!(GOOD)
      const failures = factsOf(said).checks.find((one) => one.check === check)?.failures ?? []
      const seqs = collected(said, { check })

      const named = failures.flatMap((failure) => failure.seqs)
      expect(named.length).toBeGreaterThan(0)
      expect(seqs).toEqual(expect.arrayContaining(named))
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
      expect(failures.reduce((sum, one) => sum + one.count, 0)).toBe(seqs.length)
    },
  )

  it('match the count of each evidence kind', () => {
    const { said } = GOOD
    for (const { kind, count, sample } of factsOf(said).evidence) {
      const found = collected(said, { kinds: [kind] })
      expect(found.length, kind).toBe(count)
      expect(found, kind).toEqual(expect.arrayContaining([...sample]))
    }
  })

  it('several kinds are those of each, once and in order', () => {
    const { said } = GOOD
    const kinds = ['policy_changes', 'approval_rules', 'admin_actions'] as const
    const apart = kinds.flatMap((kind) => collected(said, { kinds: [kind] }))

    expect(collected(said, { kinds })).toEqual([...new Set(apart)].toSorted((a, b) => a - b))
    expect(new Set(apart).size).toBeLessThan(apart.length)
  })
})
