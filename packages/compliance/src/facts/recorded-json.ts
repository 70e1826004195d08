import { toMicroUsd } from '@remit/contract/values'

/** Readers for recorded JSON without trust in its shape: an entry can be old or tampered with. */
export type RecordedJson = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is RecordedJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A member that is an object; null for anything else. */
export function recordIn(from: RecordedJson, name: string): RecordedJson | null {
  const value = own(from, name)
  return isRecord(value) ? value : null
}

/** A member that is text; null for anything else. */
export function textIn(from: RecordedJson, name: string): string | null {
  const value = own(from, name)
  return typeof value === 'string' ? value : null
}

/** A member that is a number; null for anything else. */
export function numberIn(from: RecordedJson, name: string): number | null {
  const value = own(from, name)
  return typeof value === 'number' ? value : null
}

/** A member that is a whole number from 0 to 2^53 - 1; null for anything else. */
export function countIn(from: RecordedJson, name: string): number | null {
  const value = numberIn(from, name)
  return value !== null && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** A member that is an amount in USD, in micro-USD; null for anything else, and from 2^53 on. */
export function microIn(from: RecordedJson, name: string): number | null {
  const usd = numberIn(from, name)
  const micro = usd === null ? null : toMicroUsd(usd)
  return Number.isSafeInteger(micro) ? micro : null
}

/** A member that is a moment (RFC 3339), in milliseconds; null for anything else. */
export function timeIn(from: RecordedJson, name: string): number | null {
  const text = textIn(from, name)
  if (text === null) return null
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** The texts in a member that is a list. */
export function textsIn(from: RecordedJson, name: string): string[] {
  const value = own(from, name)
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** The objects in a member that is a list. */
export function recordsIn(from: RecordedJson, name: string): RecordedJson[] {
  const value = own(from, name)
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** A member that is true. */
export const isTrueIn = (from: RecordedJson, name: string): boolean => own(from, name) === true

const own = (from: RecordedJson, name: string): unknown =>
  Object.hasOwn(from, name) ? from[name] : undefined
