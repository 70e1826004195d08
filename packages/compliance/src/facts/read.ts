/** Readers for recorded JSON without trust in its shape: an entry can be old or tampered with. */
export type Recorded = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Recorded =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A member that is an object; null for anything else. */
export function recordIn(from: Recorded, name: string): Recorded | null {
  const value = own(from, name)
  return isRecord(value) ? value : null
}

/** A member that is text; null for anything else. */
export function textIn(from: Recorded, name: string): string | null {
  const value = own(from, name)
  return typeof value === 'string' ? value : null
}

/** A member that is a number; null for anything else. */
export function numberIn(from: Recorded, name: string): number | null {
  const value = own(from, name)
  return typeof value === 'number' ? value : null
}

/** A member that is a moment (RFC 3339), in milliseconds; null for anything else. */
export function timeIn(from: Recorded, name: string): number | null {
  const text = textIn(from, name)
  if (text === null) return null
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** The texts in a member that is a list. */
export function textsIn(from: Recorded, name: string): string[] {
  const value = own(from, name)
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** The objects in a member that is a list. */
export function recordsIn(from: Recorded, name: string): Recorded[] {
  const value = own(from, name)
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** A member that is true. */
export const isTrueIn = (from: Recorded, name: string): boolean => own(from, name) === true

const own = (from: Recorded, name: string): unknown =>
  Object.hasOwn(from, name) ? from[name] : undefined
