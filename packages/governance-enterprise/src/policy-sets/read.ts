import { hash } from 'node:crypto'
import { API_VERSION, OBJECT_KINDS, PathId } from '@remit/contract'
import type { Drift, ObjectKind, PolicySet, StoredDocument } from '@remit/contract'
import { existing } from '@remit/core/base'
import type { AnyDatabase } from '@remit/core/db'
import type { Deps, DocumentKind } from '@remit/core/module'
import { driftOf, specIn } from './compare.ts'
import { findObjects, findSet, listObjects } from './store.ts'
import type { PolicySetObjectRow, PolicySetRow } from '../tables/policy-sets.ts'

/** The kinds of the server, in the order in which they are applied. */
export type Kinds = ReadonlyMap<string, DocumentKind>

/** Returns the kinds of the server in the order in which they are applied. */
export function kindsOf({ documents }: Pick<Deps, 'documents'>): Kinds {
  const kinds = new Map(documents().map((kind) => [kind.kind, kind]))
  return new Map(
    OBJECT_KINDS.flatMap((name) => {
      const kind = kinds.get(name)
      return kind ? [[name, kind]] : []
    }),
  )
}

/** Returns a set with its drift. */
export async function readSet(
  db: AnyDatabase,
  kinds: Kinds,
  row: PolicySetRow,
): Promise<Omit<PolicySet, 'ledger'>> {
  const own = await listObjects(db, row.org_id, row.id)
  const drift: Drift[] = []
  for (const [name, kind] of kinds) {
    const rows = own.filter((one) => one.kind === name)
    if (rows.length === 0) continue
    const ids = rows.map(({ object_id }) => object_id)
    const found = await kind.list(db, row.org_id, ids)
    const live = new Map(found.map(({ id, spec }) => [id, spec]))
    drift.push(...rows.flatMap((one) => driftOf(one, live.get(one.object_id))))
  }
  return {
    id: row.id,
    revision: row.revision,
    digest: row.digest,
    applied_at: row.applied_at,
    applied_by: row.applied_by,
    locked: row.locked === 1,
    objects: own.map(({ kind, name, object_id }) => ({
      kind: kind as ObjectKind,
      name,
      object_id,
    })),
    drift,
  }
}

/** Returns the documents of a set as its objects are; with `unmanaged`, also of objects in no set. */
export async function documentsOf(
  db: AnyDatabase,
  orgId: string,
  kinds: Kinds,
  { setId, unmanaged }: { readonly setId: string; readonly unmanaged: boolean },
): Promise<StoredDocument[]> {
  if (!unmanaged) existing(await findSet(db, orgId, setId), 'policy_set_not_found')
  const documents: StoredDocument[] = []
  for (const kind of kinds.values()) {
    const rows = new Map(
      (await findObjects(db, orgId, kind.kind)).map((row) => [row.object_id, row]),
    )
    for (const { id, spec } of await kind.list(db, orgId)) {
      const row = rows.get(id)
      if (row ? row.set_id !== setId : !unmanaged) continue
      documents.push(documentOf(kind.kind, row ?? null, id, spec))
    }
  }
  return documents
}

function documentOf(
  kind: ObjectKind,
  row: PolicySetObjectRow | null,
  id: string,
  spec: Readonly<Record<string, unknown>>,
): StoredDocument {
  const isPart = kind === 'Settings' && row !== null
  const own = isPart
    ? Object.fromEntries(Object.keys(specIn(row)).map((name) => [name, spec[name]]))
    : spec
  return { apiVersion: API_VERSION, kind, name: row?.name ?? nameOf(id), spec: own }
}

/** A name for an object whose id, such as that of an agent, need not be one. */
const nameOf = (id: string): string =>
  PathId.safeParse(id).success ? id : `agent-${hash('sha256', id, 'hex').slice(0, 16)}`
