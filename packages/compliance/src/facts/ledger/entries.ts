import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { ratioOf } from '../ratio.ts'

/** M01, M50: the entries of the period, those that were erased, and the share written by callers. */
export const entriesMeter: CreateMeter = ({ seqsOf }) => {
  const byKind = new Map<string, number>()
  const erasedByKind = new Map<string, number>()
  const erasedSeqs = seqsOf('LED-8')
  let entries = 0
  let firstSeq: number | null = null
  let lastSeq: number | null = null
  return {
    reads: ['*'],
    entry({ kind, seq, erased }) {
      entries += 1
      firstSeq ??= seq
      lastSeq = seq
      increment(byKind, kind)
      if (!erased) return
      erasedSeqs.add(seq)
      increment(erasedByKind, kind)
    },
    end() {
      const appended = (byKind.get('entry.appended') ?? 0) + (byKind.get('enforcement.gap') ?? 0)
      const counted = {
        count: entries,
        first_seq: firstSeq,
        last_seq: lastSeq,
        by_kind: Object.fromEntries(byKind),
        erased: erasedSeqs.count,
      }
      const kinds = [...erasedByKind].map(([kind, count]) => `${kind} (${count})`).toSorted()
      return {
        metrics: [
          { id: 'M01', value: counted, population: entries },
          { id: 'M50', value: ratioOf(appended, entries), population: entries },
        ],
        checks: [
          outcome({
            check: 'LED-8',
            population: entries,
            value: { erased: erasedSeqs.count },
            failures: failing(erasedSeqs, { n: erasedSeqs.count, kinds: kinds.join(', ') }),
          }),
        ],
      }
    },
  }
}

const increment = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
