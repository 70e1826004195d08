import { describe, expect, it } from 'vitest'
import { Fold, reportQueryOf } from '../src/facts/index.ts'
import type { PeriodFacts } from '../src/facts/index.ts'
import { VALID_CHAIN } from '../src/facts/external-facts.ts'
import { ms, rowsOf } from './support/by-hand.ts'
import { goodLedger } from './support/good-ledger.ts'

const PERIOD = { orgId: 'org_acme', from: ms('2026-01-01'), to: ms('2026-04-01') }
const ROWS = rowsOf(goodLedger())

/** Kinds that say how things are; of the rest pruning carries nothing. */
const isState = ({ kind }: { readonly kind: string }): boolean =>
  !/^(approval\.|authorization\.|ledger\.|policy\.dry_run|report\.|scorer\.|token\.|trust\.|guard\.)/.test(
    kind,
  )

/** The facts when everything before a time was pruned, with what was carried over. */
function factsAfter(cut: string): PeriodFacts {
  const fold = new Fold(reportQueryOf(PERIOD))
  const isGone = ({ recorded_at }: { readonly recorded_at: string }) => ms(recorded_at) < ms(cut)
  for (const row of ROWS) if (isGone(row) && isState(row)) fold.carry(row)
  for (const row of ROWS) if (!isGone(row)) fold.entry(row)
  return fold.end({ chain: VALID_CHAIN, reports: [] })
}

/** The checks that are independent of the extent of the record. */
const outcomes = ({ checks }: PeriodFacts) =>
  checks
    .filter(({ check }) => !check.startsWith('LED-'))
    .map(({ check, ok, value }) => [check, ok, value])

describe('a ledger whose beginning was pruned', () => {
  it('gives the same outcomes when nothing of the period is gone', () => {
    expect(outcomes(factsAfter('2025-12-20'))).toEqual(outcomes(factsAfter('2025-01-01')))
  })

  it('knows the organization, and that it is older than the record', () => {
    const facts = factsAfter('2026-01-02')

    expect(facts.organization).toMatchObject({ name: 'Acme', plan: 'enterprise' })
    expect(facts.checks.find(({ check }) => check === 'LED-5')).toMatchObject({ ok: false })
  })

  it('does not count silence without heartbeats', () => {
    const after = (at: string, kind: string) => ({ at, kind, data: {} })
    const [beat, ...rows] = rowsOf([
      after('2025-12-31T12', 'ledger.heartbeat'),
      after('2026-01-02', 'key.created'),
      after('2026-03-01', 'key.created'),
    ])
    const silence = (read: (fold: Fold) => void) => {
      const fold = new Fold(reportQueryOf(PERIOD))
      read(fold)
      for (const row of rows) fold.entry(row)
      const { checks } = fold.end({ chain: VALID_CHAIN, reports: [] })
      return checks.find(({ check }) => check === 'LED-3')
    }

    const kept = silence((fold) => fold.entry(beat!))

    expect(kept).toMatchObject({ ok: false, population: 2 })
    expect(silence((fold) => fold.carry(beat!))).toEqual(kept)
    expect(silence(() => undefined)).toMatchObject({ ok: true, population: 0 })
  })

  it('counts carried entries only for the state and for meters that look back', () => {
    const fold = new Fold(reportQueryOf({ ...PERIOD, from: ms('2025-01-01') }))
    for (const row of ROWS) fold.carry(row)
    const { ledger, metrics, evidence } = fold.end({ chain: VALID_CHAIN, reports: [] })

    expect(ledger).toMatchObject({ entries: 0, firstSeq: null, byKind: {} })
    expect(metrics.find(({ id }) => id === 'M01')).toMatchObject({ population: 0 })
    expect(metrics.find(({ id }) => id === 'M16')).toMatchObject({ population: 0 })
    expect(metrics.find(({ id }) => id === 'M22')).toMatchObject({ population: 0 })
    expect(metrics.find(({ id }) => id === 'M35')).toMatchObject({ population: 0 })
    expect(evidence.find(({ kind }) => kind === 'approval_decisions')).toMatchObject({ count: 0 })
  })

  it('ignores carried entries at or after the end of the period', () => {
    const fold = new Fold(reportQueryOf({ ...PERIOD, to: ms('2025-06-01') }))
    for (const row of ROWS.filter(isState)) fold.carry(row)

    expect(fold.state.organization).toBeNull()
    expect(fold.state.agents.size).toBe(0)
  })
})
