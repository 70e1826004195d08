import { createFold, questionOf } from '../../src/facts/index.ts'
import type { Facts, Metric, Outcome, Outside } from '../../src/facts/index.ts'
import { SOUND } from '../../src/facts/outside.ts'
import { ms, rowsOf } from './by-hand.ts'
import type { Said } from './by-hand.ts'

const NOTHING: Outside = { chain: SOUND, reports: [] }

/** The facts of January to March 2026. */
export function factsOf(said: readonly Said[], outside: Outside = NOTHING, firstSeq = 0): Facts {
  const period = { orgId: 'org_acme', from: ms('2026-01-01'), to: ms('2026-04-01') }
  const fold = createFold(questionOf(period))
  for (const row of rowsOf(said, firstSeq)) fold.entry(row)
  return fold.end(outside)
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
