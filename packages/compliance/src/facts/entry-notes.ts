import { actorText } from '@remit/contract/report-texts'
import { authorOf } from './changes.ts'
import type { FactRow } from './entry.ts'
import type { EntryNote, PeriodFacts } from './facts.ts'
import { FactEntry } from './entry.ts'
import type { FactState } from './state/state.ts'

/** The sequence numbers that a report on these facts prints, in order. */
export function seqsIn({ checks, evidence }: Pick<PeriodFacts, 'checks' | 'evidence'>): number[] {
  const seqs = new Set<number>()
  for (const { failures } of checks)
    for (const { seqs: behind, fixedBy } of failures) {
      for (const seq of behind) seqs.add(seq)
      if (fixedBy != null) seqs.add(fixedBy)
    }
  for (const { sample, firstSeq, lastSeq } of evidence) {
    for (const seq of sample) seqs.add(seq)
    for (const seq of [firstSeq, lastSeq]) if (seq !== null) seqs.add(seq)
  }
  return [...seqs].toSorted((a, b) => a - b)
}

/** Summarizes an entry for a reader of a report. `state` knows the persons of keys. */
export function noteOf(row: FactRow, state: FactState): EntryNote {
  const entry = new FactEntry(row, Date.parse(row.recorded_at))
  const { actor, agent_id: agentId } = entry
  return { at: row.recorded_at, agentId, by: actor && actorText(actor, authorOf(entry, state)) }
}
