import { describe, expect, it } from 'vitest'
import { VALID_CHAIN } from '../src/facts/external-facts.ts'
import { ms } from './support/by-hand.ts'
import { at, check, factsOf, metric, value } from './support/facts.ts'
import { day, decision, organization } from './support/entries.ts'

describe('the ledger', () => {
  const said = [
    organization('organization.created', '2025-12-01'),
    at('2026-01-01T06:00', 'ledger.heartbeat'),
    at('2026-01-02T06:00', 'ledger.verified', { valid: true }),
    at('2026-01-20T00:00', 'entry.appended', { key_id: 'key_app' }),
    at('2026-02-02T06:00', 'ledger.verified', { valid: false }),
    at('2026-02-10T06:00', 'ledger.verified', { valid: true }),
    at('2026-04-01T00:00', 'ledger.heartbeat'),
  ]

  it('M01, M50: the entries of the period, and those that callers wrote', () => {
    expect(value(said, 'M01')).toEqual({
      count: 5,
      first_seq: 1,
      last_seq: 5,
      by_kind: {
        'ledger.heartbeat': 1,
        'ledger.verified': 3,
        'entry.appended': 1,
      },
      erased: 0,
    })
    expect(value(said, 'M50')).toEqual({ numerator: 1, denominator: 5, text: '0.2000' })
  })

  it('M05: the longest silence between entries of the server', () => {
    // 10 February 06:00 to 1 April: 49 days and 18 hours.
    expect(value(said, 'M05')).toEqual({
      hours: '1194.00',
      from_seq: 5,
      to_seq: 'the end of the period',
    })
    expect(check(factsOf(said), 'LED-3')).toMatchObject({
      population: 4,
      ok: false,
      failures: [{ count: 3, seqs: [2, 4, 5] }],
    })
  })

  it('M05: silence before the record is not claimed: those entries were pruned', () => {
    const beats = Array.from({ length: 45 }, (_, i) => at(day(45 + i), 'ledger.heartbeat'))
    const kept = (keptFrom: number | null) =>
      check(
        factsOf([organization('organization.carried', '2025-12-01'), decision(day(45)), ...beats], {
          chain: { ...VALID_CHAIN, keptFrom },
          reports: [],
        }),
        'LED-3',
      )

    expect(kept(ms(day(45)))).toMatchObject({ ok: true, value: { longest_hours: '24.00' } })
    expect(kept(null)).toMatchObject({ ok: false, value: { longest_hours: '1080.00' } })
  })

  it('M06: an organization that is younger than the period is covered from its beginning', () => {
    const young = said.slice(1)
    const record = [organization('organization.created', '2026-02-01'), ...young.slice(4)]
    expect(value(record, 'M06')).toEqual({
      numerator: 59 * 86_400_000,
      denominator: 59 * 86_400_000,
      text: '1.0000',
    })
    expect(check(factsOf(record), 'LED-5')).toMatchObject({ population: 0 })
    expect(check(factsOf(said), 'LED-5')).toMatchObject({ population: 1, ok: true })
  })

  it('M06: a record that begins in the period covers a share of it', () => {
    const facts = factsOf([at('2026-02-15', 'ledger.heartbeat')], undefined, 100)

    expect(metric(facts, 'M06')?.value).toMatchObject({ text: '0.5000' })
    expect(check(facts, 'LED-5')).toMatchObject({
      ok: false,
      failures: [{ params: { first_ts: '2026-02-15 00:00:00 UTC' }, seqs: [100] }],
    })
  })

  it('M06: after a pruning the record begins where that ended, not at its first entry', () => {
    const keptFrom = (time: number) =>
      factsOf(
        [at('2026-02-15', 'ledger.heartbeat')],
        { chain: { ...VALID_CHAIN, keptFrom: time }, reports: [] },
        100,
      )

    expect(check(keptFrom(ms('2026-01-01')), 'LED-5')).toMatchObject({ population: 1, ok: true })
    expect(check(keptFrom(ms('2026-01-01') + 1), 'LED-5')).toMatchObject({
      ok: false,
      failures: [{ params: { first_ts: '2026-02-15 00:00:00 UTC' }, seqs: [100] }],
    })
  })

  it('M07: how old the oldest kept decision is, the setting, and the youngest that was pruned', () => {
    const used = [...said, decision('2026-02-01')]
    const pruned = at('2026-03-01', 'ledger.pruned', {
      cut: 3,
      pruned_at: '2026-03-01T00:00:00.000Z',
      cutoff: '2025-10-01T00:00:00.000Z',
    })
    expect(value(said, 'M07')).toMatchObject({ kept_days: null })
    expect(value([...used, pruned], 'M07')).toEqual({
      kept_days: 59,
      setting_days: 400,
      shortest_pruned_age_days: '151.00',
    })
    expect(check(factsOf([...said, pruned]), 'LED-4')).toMatchObject({
      ok: false,
      failures: [{ params: { days: 400 }, count: 1, seqs: [6] }],
    })
    const short = organization('organization.updated', '2026-01-03', { retention_days: 30 })
    expect(check(factsOf([...said, short]), 'LED-4')).toMatchObject({
      ok: false,
      failures: [{ params: { days: 30, early: 0 }, count: 0, seqs: [] }],
    })
    expect(check(factsOf(said), 'LED-4')).toMatchObject({ ok: true })
  })

  it('M09: only verifications that found the ledger sound count, and the edges do too', () => {
    // 2 January to 10 February: 39 days; to the end 49.75.
    expect(value(said, 'M09')).toEqual({ longest_days: '49.75', sound: 2 })
    expect(check(factsOf(said), 'LED-6')).toMatchObject({
      population: 3,
      ok: false,
      failures: [
        {
          params: { days: '49.75', from: '10 February 2026', until: '1 April 2026' },
          count: 2,
          seqs: [2, 5],
        },
      ],
    })
  })

  it.each(['LED-6', 'SCR-1'])('%s without a case names the days, and claims no entry', (id) => {
    expect(check(factsOf(said.slice(0, 2)), id)).toMatchObject({
      population: 1,
      ok: false,
      failures: [
        {
          params: { days: '90.00', from: '1 January 2026', until: '1 April 2026' },
          count: 0,
          seqs: [],
        },
      ],
    })
  })

  it.each([
    [
      'a valid verification of a ledger with decisions is',
      { valid: true },
      [decision(day(1))],
      true,
    ],
    [
      'a failed or partial verification is not',
      { valid: false, status: 'ok' },
      [decision(day(1))],
      false,
    ],
    ['a verification of a ledger without decisions is not', { valid: true }, [], false],
  ])('evidence of monitoring: %s', (_, data, use, operated) => {
    const { evidence } = factsOf([...use, at(day(2), 'ledger.verified', data)])

    expect(evidence.find(({ kind }) => kind === 'report_history')).toMatchObject({
      count: 1,
      operated,
    })
  })

  it('M02 to M04, M08 and M49 are the results of the verification', () => {
    const chain = {
      ...VALID_CHAIN,
      firstBadSeq: 3,
      gaps: 2,
      regressions: 1,
      checkpoints: 4,
      mismatches: [{ seq: 5, keptBy: 'rpt_1' }],
    }
    const reports = [
      { seq: 4, time: ms('2026-02-02'), reportId: 'rpt_1', intact: false },
      { seq: 6, time: ms('2026-04-01'), reportId: 'rpt_2', intact: false },
    ]
    const facts = factsOf(said, { chain, reports })

    expect(metric(facts, 'M02')?.value).toMatchObject({ ok: false, first_bad_seq: 3 })
    expect(metric(facts, 'M03')?.value).toBe(2)
    expect(metric(facts, 'M04')?.value).toBe(1)
    expect(metric(facts, 'M08')?.value).toEqual({ checked: 4, mismatches: 1 })
    expect(metric(facts, 'M49')?.value).toEqual({ recorded: 1, not_intact: 1 })
    for (const [id, params] of [
      ['LED-1', { first_bad_seq: 3 }],
      ['LED-2', { gaps: 2, regressions: 1 }],
      ['LED-7', { report_id: 'rpt_1', seq: 5 }],
      ['REP-1', { report_id: 'rpt_1' }],
    ] as const)
      expect(check(facts, id)).toMatchObject({ ok: false, failures: [{ params }] })
  })
})
