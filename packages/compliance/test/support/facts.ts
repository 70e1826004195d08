import { Fold, noteOf, reportQueryOf, seqsIn } from '../../src/facts/index.ts'
import type { PeriodFacts, Metric, CheckOutcome, ExternalFacts } from '../../src/facts/index.ts'
import { VALID_CHAIN } from '../../src/facts/external-facts.ts'
import { ms, rowsOf } from './by-hand.ts'
import type { EntryInput } from './by-hand.ts'

const NOTHING: ExternalFacts = { chain: VALID_CHAIN, reports: [] }

/** The facts of January to March 2026. */
export function factsOf(
  said: readonly EntryInput[],
  outside: ExternalFacts = NOTHING,
  firstSeq = 0,
): PeriodFacts {
  const period = { orgId: 'org_acme', from: ms('2026-01-01'), to: ms('2026-04-01') }
  const fold = new Fold(reportQueryOf(period))
  const rows = rowsOf(said, firstSeq)
  for (const row of rows) fold.entry(row)
  const facts = fold.end(outside)
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  const notes = seqsIn(facts).flatMap((seq) => {
    const row = bySeq.get(seq)
    return row ? [[seq, noteOf(row, fold.state)] as const] : []
  })
  return { ...facts, entries: new Map(notes) }
}

export const metric = (facts: PeriodFacts, id: string): Metric | undefined =>
  facts.metrics.find((one) => one.id === id)

export const check = (facts: PeriodFacts, id: string): CheckOutcome | undefined =>
  facts.checks.find((one) => one.check === id)

/** The value of a metric over some entries. */
export const value = (
  said: readonly EntryInput[],
  id: string,
  outside?: ExternalFacts,
): Metric['value'] | undefined => metric(factsOf(said, outside), id)?.value

/** An entry of the server's own, at a time. */
export const at = (time: string, kind: string, data: object = {}): EntryInput => ({
  at: time,
  kind,
  data: data as NonNullable<EntryInput['data']>,
})
