import type { LedgerEntryRow } from '@remit/core/db'
import type { VerifyReport } from '@remit/core/ledger/records'
import { describe, expect, test } from 'vitest'
import type { StoredReportError } from '../jobs/jobs.ts'
import { chainFactsOf, PeriodEnd } from './chain-facts.ts'

type LedgerError = VerifyReport['errors'][number]

const TO = Date.parse('2026-02-01T00:00:00.000Z')
const row = (seq: number, recorded_at: string) =>
  ({ seq, recorded_at, hash: `hash of ${seq}` }) as LedgerEntryRow

/** The entries 0 to 9 are of the period; with `later`, 10 to 14 came after it. */
function endOf(later: boolean): PeriodEnd {
  const end = new PeriodEnd(TO)
  for (let seq = 0; seq < 10; seq++) end.entry(row(seq, `2026-01-1${seq}T00:00:00.000Z`))
  if (later) for (let seq = 10; seq < 15; seq++) end.entry(row(seq, '2026-02-01T00:00:00.000Z'))
  return end
}

const report = (errors: readonly LedgerError[], agreed_to = 14) =>
  ({
    errors,
    first_errors: errors,
    agreed_to,
    checked: { from_seq: 0, to_seq: 14, entries: 15 },
  }) as unknown as VerifyReport

const factsOf = (
  error: LedgerError | null,
  { later = true, agreedTo = 14, reports = [] as StoredReportError[], carriedTo = -1 } = {},
) => {
  const count = reports.length
  const errors = { errors: reports, first_errors: reports, error_count: count }
  const check = { checked: 1, mismatched: count, ...errors }
  const readFrom = { end: endOf(later), carriedTo, keptFrom: null, checkpoints: 3 }
  return chainFactsOf(report(error ? [error] : [], agreedTo), check, readFrom)
}

test('a valid ledger: the end of the period, and no error', () => {
  expect(factsOf(null)).toEqual({
    verifiedFromSeq: 0,
    keptFrom: null,
    firstBadSeq: null,
    hashAtLast: 'hash of 9',
    gaps: 0,
    regressions: 0,
    checkpoints: 3,
    mismatches: [],
  })
})

test('gaps and steps back are counted up to the end of the period', () => {
  const end = new PeriodEnd(TO)
  end.entry(row(0, '2026-01-05T00:00:00.000Z'))
  end.entry(row(3, '2026-01-04T00:00:00.000Z'))
  end.entry(row(9, '2026-02-05T00:00:00.000Z'))

  expect([end.gaps, end.regressions, end.lastSeq]).toEqual([1, 1, 3])
})

describe('an error counts when it may be of the period', () => {
  test.each<[string, LedgerError, boolean, number | null]>([
    ['an entry of it', { seq: 9, code: 'hash_mismatch' }, true, 9],
    ['an entry of later', { seq: 10, code: 'hash_mismatch' }, true, null],
    ['the last ones there are', { seq: 12, code: 'head_mismatch' }, false, 12],
    ['missing ones behind its last', { seq: 10, code: 'gap' }, true, 10],
    ['missing ones of later', { seq: 11, code: 'gap' }, true, null],
  ])('%s', (_name, error, later, firstBadSeq) => {
    expect(factsOf(error, { later })).toMatchObject({ firstBadSeq, mismatches: [] })
  })
})

test('a later error counts while the end of the period is not signed', () => {
  const later = { seq: 12, code: 'hash_mismatch' } as const

  expect(factsOf(later, { agreedTo: 9 })).toMatchObject({ firstBadSeq: 12 })
  expect(factsOf(later, { agreedTo: 10 })).toMatchObject({ firstBadSeq: null })
})

describe('after a pruning, an error counts up to the last entry that carries over pruned ones', () => {
  test.each<[string, LedgerError, number | null]>([
    ['of what was carried over', { seq: 12, code: 'commitment_mismatch' }, 12],
    ['of what is missing there', { seq: 12, code: 'gap' }, 12],
    ['of later', { seq: 14, code: 'commitment_mismatch' }, null],
    ['the cut is another, or nothing tells of it', { seq: 14, code: 'bad_cut' }, 14],
    ['', { seq: 14, code: 'unrecorded_cut' }, 14],
  ])('%s', (_name, error, firstBadSeq) => {
    expect(factsOf(error, { carriedTo: 13 })).toMatchObject({ firstBadSeq, mismatches: [] })
  })

  test('a wrong root counts unless a later one agrees', () => {
    const root = { seq: 14, code: 'checkpoint_root' } as const
    const found = (agreedTo: number) => factsOf(root, { carriedTo: 13, agreedTo }).mismatches

    expect([found(12), found(13)]).toEqual([[{ seq: 14, keptBy: 'the ledger' }], []])
  })
})

test('errors of later do not hide another that counts', () => {
  const many = Array.from({ length: 100 }, (_, i) => ({ seq: 10, code: 'gap', detail: `${i}` }))
  const errors = many as unknown as LedgerError[]
  const hidden = [errors[0]!, { seq: 900, code: 'untrusted_key' } as const]
  const reports = { checked: 0, mismatched: 0, errors: [], first_errors: [], error_count: 0 }
  const ledger = { ...report(errors), first_errors: hidden }
  const readFrom = { end: endOf(true), carriedTo: -1, keptFrom: null, checkpoints: 0 }

  expect(chainFactsOf(ledger, reports, readFrom).mismatches).toEqual([
    { seq: 900, keptBy: 'the ledger' },
  ])
})

describe('a checkpoint counts if its mismatch may be in the period', () => {
  const mismatch = (seq: number) => [{ seq, keptBy: 'the ledger' }]
  test.each<[string, LedgerError, { later?: boolean; agreedTo?: number }, boolean]>([
    ['a root, none of before agrees', { seq: 14, code: 'checkpoint_root' }, { agreedTo: -1 }, true],
    ['one agrees in the period', { seq: 14, code: 'checkpoint_root' }, { agreedTo: 8 }, true],
    ['one agrees with all of it', { seq: 14, code: 'checkpoint_root' }, { agreedTo: 9 }, true],
    ['and with what ends it', { seq: 14, code: 'checkpoint_root' }, { agreedTo: 10 }, false],
    ['the signature of later', { seq: 14, code: 'unsigned_tail' }, { agreedTo: 9 }, true],
    ['a signature of it', { seq: 9, code: 'checkpoint_signature' }, {}, true],
    ['a signature of later', { seq: 14, code: 'checkpoint_signature' }, {}, false],
    ['nobody vouches', { seq: 14, code: 'untrusted_key' }, {}, true],
    ['signed ones are missing, of later', { seq: 15, code: 'truncated' }, {}, false],
    [
      'signed ones are missing, perhaps of it',
      { seq: 10, code: 'truncated' },
      { later: false },
      true,
    ],
    ['unsigned ones of later', { seq: 12, code: 'unsigned_tail' }, {}, false],
  ])('%s', (_name, error, options, counts) => {
    const { firstBadSeq, mismatches } = factsOf(error, options)

    expect(firstBadSeq).toBeNull()
    expect(mismatches).toEqual(counts ? mismatch(error.seq) : [])
  })
})

describe('a report that the ledger contradicts', () => {
  const found = (seq: number, code: StoredReportError['code'], later = true) =>
    factsOf(null, { later, reports: [{ seq, code, reportId: 'rpt_1' }] }).mismatches

  test('names the entry that it was made from, or that recorded it', () => {
    expect(found(9, 'report_checkpoint')).toEqual([{ seq: 9, keptBy: 'rpt_1' }])
    expect(found(12, 'report_unrecorded', false)).toEqual([{ seq: 12, keptBy: 'rpt_1' }])
  })

  test('does not speak against the ledger when it is the report that changed, or when it is of later', () => {
    expect(found(5, 'report_changed')).toEqual([])
    expect(found(5, 'report_missing')).toEqual([])
    expect(found(14, 'report_checkpoint')).toEqual([])
  })
})
