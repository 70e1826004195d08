import type { InventoryItem } from '@remit/contract'

/** A finding in the configuration of an agent host; contains no secret. */
export interface Discovered {
  readonly items: readonly InventoryItem[]
  /** Files that exist and could not be read. */
  readonly unread: readonly string[]
}

/** A parsed file of configuration, and its path as it is shown. */
export interface ConfigFile {
  readonly path: string
  readonly content: Members
}

export type Members = Readonly<Record<string, unknown>>

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A member that is an object; an empty one where it is not. */
export function membersIn(value: unknown, name: string): Members {
  const found = isMembers(value) ? value[name] : undefined
  return isMembers(found) ? found : {}
}
