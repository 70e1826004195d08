/** Who may be behind a key: approvals of changes of rules must come from somebody else. */
import { foldName } from '@remit/contract/values'
import { on } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import type { Deps } from '@remit/core/module'

/**
 * Returns who may use a key or session, by its id: names of people in the form of `foldName`, and ids of keys. Null if
 * one of them is no longer known.
 */
export type HoldersOf = (id: string) => ReadonlySet<string> | null

/** For requests that no requirement of separate keys is about. */
export const NOT_READ: HoldersOf = () => null

type KeyOrigin = Pick<CoreTables['ingest_key'], 'id' | 'person' | 'created_by'>

/**
 * The person of a key may use it, and everybody who saw its secret: its creator, the creator of that one, and so on. A
 * key of the operator of the server without a person is its own holder. Pure; `names` has all names of each person.
 */
export function holdersIn(
  keys: readonly KeyOrigin[],
  people: readonly { readonly names: readonly string[] }[],
): HoldersOf {
  const byId = new Map(keys.map((key) => [key.id, key]))
  const namesakes = Map.groupBy(
    people.flatMap(({ names }) => names.map((name) => ({ name: foldName(name), names }))),
    ({ name }) => name,
  )
  return (id) => {
    const holders = new Set<string>()
    // Keys are created after their creators, so there is no cycle.
    for (let at: string | null = id; at !== null; at = byId.get(at)?.created_by ?? null) {
      const key = byId.get(at)
      const name = foldName(key ? (key.person ?? (key.created_by === null ? at : '')) : at)
      if (name === '') continue
      const known = namesakes.get(name)
      // A person who was removed may be back as another one.
      if (!known && name.startsWith('per_')) return null
      for (const one of known?.flatMap(({ names }) => names) ?? []) holders.add(foldName(one))
      holders.add(name)
    }
    return holders
  }
}

/** Reads who may use the keys and sessions of an organization. */
export async function readHolders(
  { offered }: Pick<Deps, 'offered'>,
  db: AnyDatabase,
  orgId: string,
): Promise<HoldersOf> {
  const keys = await on<CoreTables>(db)
    .selectFrom('ingest_key')
    .select(['id', 'person', 'created_by'])
    .where('org_id', '=', orgId)
    .execute()
  return holdersIn(keys, (await offered('people')?.deciders(db, orgId)) ?? [])
}

/** Returns whether the same person may be behind two keys or sessions; true if that is unknown. */
export function mayBeOne(a: string, b: string, holdersOf: HoldersOf): boolean {
  const others = holdersOf(b)
  return others === null || mayUse(others, a, holdersOf)
}

/** Returns whether one of some holders may use a key or session; true if that is unknown. */
export const mayUse = (holders: ReadonlySet<string>, id: string, holdersOf: HoldersOf): boolean => {
  const own = holdersOf(id)
  return own === null || [...holders].some((one) => own.has(one))
}
