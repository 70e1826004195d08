import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { ADMINISTRATIVE, authorOf, isAdministrative } from './administrative.ts'

/** M35, M36: changes to governance by kind and author, and changes without an author. */
export const changesMeter: CreateMeter = ({ seqsOf }) => {
  const anonymous = seqsOf('CHG-1')
  const byKind = new Map<string, number>()
  const byActor = new Map<string, number>()
  let changes = 0
  return {
    reads: ADMINISTRATIVE,
    entry(entry, state) {
      if (!isAdministrative(entry, state)) return
      const { kind, actor, seq } = entry
      const author = authorOf(entry, state)
      const name = author ?? (actor ? `${actor.type}:${actor.id}` : 'nobody')
      changes += 1
      byKind.set(kind, (byKind.get(kind) ?? 0) + 1)
      byActor.set(name, (byActor.get(name) ?? 0) + 1)
      if (author === null) anonymous.add(seq)
    },
    end: () => ({
      metrics: [
        {
          id: 'M35',
          value: { by_kind: Object.fromEntries(byKind), by_actor: Object.fromEntries(byActor) },
          population: changes,
        },
        { id: 'M36', value: anonymous.count, population: changes },
      ],
      checks: [
        outcome({
          check: 'CHG-1',
          population: changes,
          value: { count: anonymous.count },
          failures: failing(anonymous),
        }),
      ],
    }),
  }
}
