import { actorText } from '@remit/contract/report-texts'
import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { ADMINISTRATIVE, authorOf, isAdministrative } from './administrative.ts'

/** M35, M36: changes to governance by kind and author, and changes without an author. */
export const changesMeter: CreateMeter = ({ seqsOf }) => {
  const anonymous = seqsOf('CHG-1')
  const byKind = new Map<string, number>()
  const byActor = new Map<string, number>()
  const changes = new Cases()
  return {
    reads: ADMINISTRATIVE,
    entry(entry, state) {
      if (!isAdministrative(entry, state)) return
      const { kind, actor, seq, time } = entry
      const author = authorOf(entry, state)
      const name = author ?? (actor ? actorText(actor, null) : 'nobody')
      changes.add(time)
      byKind.set(kind, (byKind.get(kind) ?? 0) + 1)
      byActor.set(name, (byActor.get(name) ?? 0) + 1)
      if (author === null) anonymous.add(seq)
    },
    end: () => ({
      metrics: [
        {
          id: 'M35',
          value: { by_kind: Object.fromEntries(byKind), by_actor: Object.fromEntries(byActor) },
          population: changes.count,
        },
        { id: 'M36', value: anonymous.count, population: changes.count },
      ],
      checks: [
        outcome({
          check: 'CHG-1',
          population: changes.count,
          cases: changes,
          value: { count: anonymous.count },
          failures: failing(anonymous),
        }),
      ],
    }),
  }
}
