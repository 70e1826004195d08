import { fail, isoTime } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { ChangeObserver, EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import type { PolicySetObjectRow } from '../tables/policy-sets.ts'
import { isAs, specIn } from './compare.ts'
import { findObjects, findSet, putObjects } from './store.ts'

/**
 * Observes changes of objects of policy sets that no plan makes: refuses those of locked sets, and records
 * the others. The operator of the server and emergency stops are never refused.
 */
export const driftObserver =
  ({ documents }: Pick<Deps, 'documents'>): ChangeObserver =>
  async (entries, scope, caller) => {
    const { tx, orgId, size } = scope
    const drafts: EntryDraft[] = []
    for (const kind of documents())
      for (const [at, entry] of entries.entries()) {
        if ('policy_set' in entry.data) continue
        const ids = kind.changedBy(entry)
        if (ids.length === 0) continue
        for (const row of await findObjects(tx, orgId, kind.kind, ids)) {
          if (!concerns(entry, row)) continue
          const set = await findSet(tx, orgId, row.set_id)
          if (set?.locked === 1 && caller && !isEmergencyStop(entry, row))
            throw fail(
              'managed_by_policy_set',
              `${row.kind} ${row.name} belongs to the policy set ${row.set_id}, which is locked`,
              { extensions: { policy_set: row.set_id } },
            )
          const by = personOf(caller).person ?? actorOf(caller).id
          const changed_at = isoTime(scope.now)
          await putObjects(tx, [{ ...row, changed_by: by, changed_seq: size + at, changed_at }])
          drafts.push({
            kind: 'policy_set.drifted',
            actor: actorOf(caller),
            data: {
              set: row.set_id,
              kind: row.kind,
              name: row.name,
              object_id: row.object_id,
              ...personOf(caller),
            },
          })
        }
      }
    return drafts
  }

/** A change of other settings is none of the set. */
const concerns = (entry: EntryDraft, row: PolicySetObjectRow): boolean =>
  entry.kind !== 'organization.updated' || !isAs(entry.data.organization.settings, specIn(row))

/** A limit with caps that are no higher, and nothing else changed. */
function isEmergencyStop(entry: EntryDraft, row: PolicySetObjectRow): boolean {
  if (entry.kind !== 'spend_limit.set') return false
  const before = specIn(row)
  const after: Readonly<Record<string, unknown>> = entry.data.spend_limit
  return Object.entries(before).every(([name, value]) =>
    name.endsWith('_usd') ? isNoHigher(after[name], value) : isAs(after, { [name]: value }),
  )
}

const isNoHigher = (cap: unknown, before: unknown): boolean =>
  before === null || (typeof cap === 'number' && typeof before === 'number' && cap <= before)
