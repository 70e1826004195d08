import type { ObjectKind } from '@remit/contract'
import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { PolicySetObjectRow } from '../tables/policy-sets.ts'
import type { Tables } from '../tables/schema.ts'

/** Sorted by id. */
export const {
  find: findSet,
  list: listSets,
  count: countSets,
  put: putSet,
  remove: deleteSet,
} = orgTable<Tables, 'policy_set'>('policy_set', 'id', [])

// The number of statement parameters is limited.
const PART = 200

/** The objects of a set, by kind and id. */
export const listObjects = (
  db: AnyDatabase,
  orgId: string,
  setId: string,
): Promise<PolicySetObjectRow[]> =>
  on<Tables>(db)
    .selectFrom('policy_set_object')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('set_id', '=', setId)
    .orderBy('kind')
    .orderBy('object_id')
    .execute()

/** Those of some objects of a kind that are in a set; all of them unless given. */
export async function findObjects(
  db: AnyDatabase,
  orgId: string,
  kind: ObjectKind,
  ids?: readonly string[],
): Promise<PolicySetObjectRow[]> {
  const ofKind = on<Tables>(db)
    .selectFrom('policy_set_object')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('kind', '=', kind)
  if (!ids) return ofKind.execute()
  const rows: PolicySetObjectRow[] = []
  for (let start = 0; start < ids.length; start += PART) {
    const part = ids.slice(start, start + PART)
    rows.push(...(await ofKind.where('object_id', 'in', part).execute()))
  }
  return rows
}

/** Stores objects, replacing earlier versions. */
export async function putObjects(
  db: AnyDatabase,
  rows: readonly PolicySetObjectRow[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += PART)
    await on<Tables>(db)
      .insertInto('policy_set_object')
      .values(rows.slice(start, start + PART))
      .onConflict((conflict) =>
        conflict.columns(['org_id', 'kind', 'object_id']).doUpdateSet((row) => ({
          set_id: row.ref('excluded.set_id'),
          name: row.ref('excluded.name'),
          spec: row.ref('excluded.spec'),
          changed_by: row.ref('excluded.changed_by'),
          changed_seq: row.ref('excluded.changed_seq'),
          changed_at: row.ref('excluded.changed_at'),
        })),
      )
      .execute()
}

/** Takes objects out of their set; all objects of the set unless given. */
export async function deleteObjects(
  db: AnyDatabase,
  orgId: string,
  setId: string,
  objects?: readonly { readonly kind: string; readonly object_id: string }[],
): Promise<void> {
  const ofSet = on<Tables>(db)
    .deleteFrom('policy_set_object')
    .where('org_id', '=', orgId)
    .where('set_id', '=', setId)
  if (!objects) return void (await ofSet.execute())
  for (const { kind, object_id } of objects)
    await ofSet.where('kind', '=', kind).where('object_id', '=', object_id).execute()
}
