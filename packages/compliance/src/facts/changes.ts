import { actorText } from '@remit/contract/report-texts'
import type { EntryKind } from '@remit/contract/entries'
import { readsOf } from './evidence-kinds.ts'
import { Cases } from './facts.ts'
import { metric } from './meter.ts'
import type { CreateMeter } from './meter.ts'
import { NameCounts } from './name-counts.ts'
import type { FactEntry } from './entry.ts'
import type { FactState } from './state/state.ts'

/** M35, M36: changes to governance by kind and author, and changes without an author. */
export const changesMeter: CreateMeter = ({ seqsOf }) => {
  const anonymous = seqsOf('CHG-1')
  const byKind = new NameCounts()
  const byActor = new NameCounts()
  const changes = new Cases()
  return {
    reads: ADMINISTRATIVE,
    entry(entry, state) {
      if (!isAdministrative(entry, state)) return
      const { kind, actor, seq, time } = entry
      const author = authorOf(entry, state)
      const name = author ?? (actor ? actorText(actor, null) : 'nobody')
      changes.add(time)
      byKind.add(kind)
      byActor.add(name)
      if (author === null) anonymous.add(seq)
    },
    end: () => ({
      metrics: [
        metric('M35', { by_kind: byKind.all, by_actor: byActor.all }, changes.count),
        metric('M36', anonymous.count, changes.count),
      ],
      checks: [anonymous.outcome({ population: changes.count, cases: changes })],
    }),
  }
}

/** Entry kinds of changes; `isAdministrative` excludes some entries of them. */
export const ADMINISTRATIVE = readsOf('admin_actions') as readonly EntryKind[]

const CHANGES: ReadonlySet<string> = new Set(ADMINISTRATIVE)

/**
 * Returns whether an entry is an administrative change. A credential from a token exchange is not:
 * the decision was to trust the issuer. The first key is not, either: no other key existed, so it belongs
 * to the creation of the organization.
 */
export function isAdministrative(entry: FactEntry, state: FactState): boolean {
  const { kind, erased } = entry
  if (erased || !CHANGES.has(kind)) return false
  if (kind === 'key.created' && state.keys.size + state.lost(kind) === 0) return false
  if (kind !== 'credential.issued') return true
  return entry.read(kind).credential?.source !== 'exchange'
}

/** The person who made the change, from the entry or from the key that it names; null if unknown. */
export const authorOf = (entry: FactEntry, state: FactState): string | null =>
  entry.read('policy.updated').person ?? state.personOf(entry.actor)
