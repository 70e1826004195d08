import { rowOf } from '@remit/contract/entries'
import type { EntryChange } from '@remit/contract/entries'

/** An administrative change that an entry records. */
export interface AdministrativeChange extends EntryChange {
  /** Type of the changed object, such as `policy`. */
  readonly object: string
}

/** The administrative change of an entry of this kind; null for all other entries. */
export function changeOf(kind: string): AdministrativeChange | null {
  const change = rowOf(kind)?.change
  return change ? { ...change, object: kind.slice(0, kind.indexOf('.')) } : null
}

/** The id of the object that an administrative entry holds; null if it names none. */
export function objectIdOf(
  object: string,
  data: Readonly<Record<string, unknown>> | null,
): string | null {
  const held = data?.[object] ?? data?.['member']
  const fields = typeof held === 'object' && held !== null ? (held as Record<string, unknown>) : {}
  const id = fields['id'] ?? fields['agent_id'] ?? data?.[`${object}_id`]
  return typeof id === 'string' ? id : null
}
