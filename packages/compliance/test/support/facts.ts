import { createFold, noteOf, questionOf, seqsIn } from '../../src/facts/index.ts'
import type { Facts, Metric, Outcome, Outside } from '../../src/facts/index.ts'
import { SOUND } from '../../src/facts/outside.ts'
import { ms, rowsOf } from './by-hand.ts'
import type { Said } from './by-hand.ts'

const NOTHING: Outside = { chain: SOUND, reports: [] }

/** The facts of January to March 2026. */
export function factsOf(said: readonly Said[], outside: Outside = NOTHING, firstSeq = 0): Facts {
  const period = { orgId: 'org_acme', from: ms('2026-01-01'), to: ms('2026-04-01') }
  const fold = createFold(questionOf(period))
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

export const metric = (facts: Facts, id: string): Metric | undefined =>
  facts.metrics.find((one) => one.id === id)

export const check = (facts: Facts, id: string): Outcome | undefined =>
  facts.checks.find((one) => one.check === id)

/** The value of a metric over some entries. */
export const value = (
  said: readonly Said[],
  id: string,
  outside?: Outside,
): Metric['value'] | undefined => metric(factsOf(said, outside), id)?.value

/** An entry of the server's own, at a time. */
export const at = (time: string, kind: string, data: object = {}): Said => ({
  at: time,
  kind,
  data: data as NonNullable<Said['data']>,
})
