export type Id = string | number
export type Members = Readonly<Record<string, unknown>>

/** Ids `1` and `"1"` are different. */
export const keyOf = (id: Id): string => JSON.stringify(id)

export const isId = (value: unknown): value is Id =>
  typeof value === 'string' || Number.isSafeInteger(value)

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
