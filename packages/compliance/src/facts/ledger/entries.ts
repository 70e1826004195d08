import type { CreateMeter } from '../meter.ts'
import { ratioOf } from '../ratio.ts'

/** M01, M50: the entries of the period, and the share written by callers. */
export const entriesMeter: CreateMeter = () => {
  const byKind = new Map<string, number>()
  let entries = 0
  let firstSeq: number | null = null
  let lastSeq: number | null = null
  return {
    reads: ['*'],
    entry({ kind, seq }) {
      entries += 1
      firstSeq ??= seq
      lastSeq = seq
      byKind.set(kind, (byKind.get(kind) ?? 0) + 1)
    },
    end() {
      const appended = (byKind.get('entry.appended') ?? 0) + (byKind.get('enforcement.gap') ?? 0)
      const counted = {
        count: entries,
        first_seq: firstSeq,
        last_seq: lastSeq,
        by_kind: Object.fromEntries(byKind),
      }
      return {
        metrics: [
          { id: 'M01', value: counted, population: entries },
          { id: 'M50', value: ratioOf(appended, entries), population: entries },
        ],
        checks: [],
      }
    },
  }
}
