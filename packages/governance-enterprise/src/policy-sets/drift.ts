import { fail, isoTime } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { ChangeObserver, EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import type { PolicySetObjectRow } from '../tables/policy-sets.ts'
import { isAs, specIn } from './compare.ts'
import type { Spec } from './compare.ts'
import { findObjects, findSet, putObjects } from './store.ts'
import { weakens } from './weakens.ts'

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
          kind.changedBy(entry).map((id) => [id, { entry, at }] as const),
        ),
      )
      if (changed.size === 0) continue
      for (const row of await findObjects(tx, orgId, kind.kind, [...changed.keys()])) {
        const made = changed.get(row.object_id)
        if (!made || row.set_id === plannedBy(made.entry) || !concerns(made.entry, row)) continue
        const set = await findSet(tx, orgId, row.set_id)
        if (set?.locked === 1 && caller && !isEmergencyStop(made.entry, row))
          throw fail(
            'managed_by_policy_set',
            `${row.kind} ${row.name} belongs to the policy set ${row.set_id}, which is locked`,
            { extensions: { policy_set: row.set_id } },
          )
        const change = {
          changed_by: personOf(caller).person ?? actorOf(caller).id,
          changed_seq: size + made.at,
          changed_at: isoTime(scope.now),
          changed_spec: specAfter(made.entry),
        }
        await putObjects(tx, [{ ...row, ...change }])
        const { set_id, kind: of, name, object_id } = row
        const data = { set: set_id, kind: of, name, object_id, ...personOf(caller) }
        drafts.push({ kind: 'policy_set.drifted', actor: actorOf(caller), data })
      }
    }
    return drafts
  }

/** A change of other settings is none of the set. */
const concerns = (entry: EntryDraft, row: PolicySetObjectRow): boolean =>
  entry.kind !== 'organization.updated' || !isAs(entry.data.organization.settings, specIn(row))

/** The set whose plan wrote an entry. The plan of another set is a change like others. */
const plannedBy = ({ data }: EntryDraft): string | null =>
  'policy_set' in data && typeof data.policy_set === 'object' ? data.policy_set.id : null

/** A limit with caps that are no higher, and nothing else changed. */
const isEmergencyStop = (entry: EntryDraft, row: PolicySetObjectRow): boolean =>
  entry.kind === 'spend_limit.set' &&
  !weakens({
    change: 'replace',
    kind: 'SpendLimit',
    before: row.changed_spec === null ? specIn(row) : (JSON.parse(row.changed_spec) as Spec | null),
    after: limitIn(entry),
  })

/** The limit after an entry; null for one that is deleted and for other kinds. */
function specAfter(entry: EntryDraft): string | null {
  if (entry.kind === 'spend_limit.removed') return 'null'
  return entry.kind === 'spend_limit.set' ? JSON.stringify(limitIn(entry)) : null
}

function limitIn({ data }: EntryDraft<'spend_limit.set'>): Spec {
  const { created_at: _, created_by: _by, updated_at: _at, ...spec } = data.spend_limit
  return spec
}
