import type { PersonRole } from '@remit/contract'

const HIGHEST_FIRST: readonly PersonRole[] = ['admin', 'approver', 'read']

/** Returns the highest role that the groups of a person map to; null if none does. */
export function roleOf(
  groups: readonly string[],
  map: ReadonlyMap<string, PersonRole>,
): PersonRole | null {
  const roles = new Set(groups.map((group) => map.get(group)))
  return HIGHEST_FIRST.find((role) => roles.has(role)) ?? null
}
