import { isDeepStrictEqual } from 'node:util'
import { fail, isoTime } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { ChangeObserver, EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps, DocumentChange } from '@remit/core/module'
import type { PolicySetObjectRow } from '../tables/policy-sets.ts'
import { partOf, specIn } from './compare.ts'
import { findObjects, findSet, putObjects } from './store.ts'
import { isEmergencyStop } from './weakens.ts'

/**
 * Observes changes of objects of policy sets that no plan of their set makes: refuses those of locked sets, and records
 * the others. The operator of the server and emergency stops are never refused.
 */
export const driftObserver =
  ({ documents }: Pick<Deps, 'documents'>): ChangeObserver =>
  async (entries, scope, caller) => {
    const { tx, orgId, size } = scope
    const drafts: EntryDraft[] = []
    for (const kind of documents()) {
      const changed = new Map(
        entries.flatMap((entry, at) =>
          kind.changesOf(entry).map((change) => [change.id, { entry, at, change }] as const),
        ),
      )
      if (changed.size === 0) continue
      for (const row of await findObjects(tx, orgId, kind.kind, [...changed.keys()])) {
        const made = changed.get(row.object_id)
        if (!made || row.set_id === plannedBy(made.entry) || !concerns(made.change, row)) continue
        const set = await findSet(tx, orgId, row.set_id)
        if (set?.locked === 1 && caller && !isEmergencyStop({ kind: kind.kind, ...made.change }))
          throw fail(
            'managed_by_policy_set',
            `${row.kind} ${row.name} belongs to the policy set ${row.set_id}, which is locked`,
            { extensions: { policy_set: row.set_id } },
          )
        const change = {
          changed_by: personOf(caller).person ?? actorOf(caller).id,
          changed_seq: size + made.at,
          changed_at: isoTime(scope.now),
        }
        await putObjects(tx, [{ ...row, ...change }])
        const { set_id, kind: of, name, object_id } = row
        const data = { set: set_id, kind: of, name, object_id, ...personOf(caller) }
        drafts.push({ kind: 'policy_set.drifted', actor: actorOf(caller), data })
      }
    }
    return drafts
  }

/** A change of settings that the set does not have is none of it. */
const concerns = ({ before, after }: DocumentChange, row: PolicySetObjectRow): boolean =>
  row.kind !== 'Settings' ||
  !isDeepStrictEqual(partOf(before, specIn(row)), partOf(after, specIn(row)))

/** The set whose plan wrote an entry. The plan of another set is a change like others. */
export const plannedBy = ({ data }: EntryDraft): string | null =>
  'policy_set' in data && typeof data.policy_set === 'object' ? data.policy_set.id : null
