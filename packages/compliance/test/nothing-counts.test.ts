import { describe, expect, it } from 'vitest'
import type { EntryInput } from './support/by-hand.ts'
import { decision } from './support/entries.ts'
import { factsOf, metric, value } from './support/facts.ts'
import { goodLedger } from './support/good-ledger.ts'

describe('entries of callers, and erased entries', () => {
  const shown = (said: readonly EntryInput[], without: readonly string[]) =>
    factsOf(said)
      .metrics.filter(({ id }) => !without.includes(id))
      .map(({ id, value: found }) => [id, found])
  const good = goodLedger()

  it('a caller entry that imitates another kind counts only as a caller entry', () => {
    const alike = good.map((one): EntryInput => ({ ...one, kind: 'entry.appended' }))
    // The extent of the record depends on all entries.
    const ofRecord = ['M01', 'M06', 'M07', 'M50']

    expect(shown(alike, ofRecord)).toEqual(shown([], ofRecord))
    expect(value(alike, 'M50')).toMatchObject({ text: '1.0000' })
  })

  it('an erased payload counts only as an entry with its time', () => {
    const erased = good.map((one): EntryInput => ({ ...one, erased: true }))
    // They say how many entries or decisions were erased, or were taken at all.
    const ofRecord = ['M01', 'M05', 'M06', 'M07', 'M10', 'M39', 'M50']

    expect(shown(erased, ofRecord)).toEqual(shown([], ofRecord))
    const entries = value(good, 'M01') as { readonly count: number }
    expect(value(erased, 'M01')).toEqual({ ...entries, erased: entries.count })
    const { evidence } = factsOf(erased)
    expect(evidence.find(({ kind }) => kind === 'authorization_decisions')).toMatchObject({
      count: 0,
      operated: false,
    })
  })

  it('over nothing, ratios are null and checks do not apply', () => {
    const facts = factsOf([])
    expect(metric(facts, 'M50')?.value).toBeNull()
    const applying = facts.checks.filter(({ population }) => population > 0)
    expect(applying.map((one) => one.check)).toEqual([])
  })

  it('a denial for a reason of a newer version counts as a denial only', () => {
    const said = { decision: 'deny', reason: 'action_forbidden', data: { matched: [] } }
    const newer = decision('2026-01-05', said)
    const entries = [newer, decision('2026-01-06')]

    expect(value(entries, 'M10')).toMatchObject({ allow: 1, deny: 1 })
    expect(value(entries, 'M11')).toEqual({ action_forbidden: 1 })
    expect(value(entries, 'M12')).toMatchObject({ numerator: 1, denominator: 2 })
    expect(value(entries, 'M15')).toMatchObject({ deny: 0 })
    expect(value(entries, 'M42')).toMatchObject({ denials: 0 })
  })
})
