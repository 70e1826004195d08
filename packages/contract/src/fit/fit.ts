import { bytesOf, hex, sha256 } from './digest.ts'
import { canonical, isObject } from './json.ts'
import type { Json, JsonObject } from './json.ts'
import { KEPT_BYTES, shortened } from './shortened.ts'

const MAX_BYTES = 64 * 1024
const MAX_NAMES = 2_000
const MAX_DEPTH = 32

/**
 * A context within the limits of Remit: 64 KiB, 2,000 names, 32 levels. One that is beyond them has its
 * long texts as `{ sha256, length, start }`; if that is not enough, its members as `{ sha256, length }`.
 * Null if it has more members than a context can hold.
 */
export const fitted = (context: JsonObject): JsonObject | Promise<JsonObject | null> =>
  fits(context) ? context : shrunk(context)

async function shrunk(context: JsonObject): Promise<JsonObject | null> {
  const short = (await shortTexts(context)) as JsonObject
  if (fits(short)) return short
  const hashed: [string, Json][] = []
  for (const [name, member] of Object.entries(context))
    hashed.push([name, await hashedMember(member)])
  const least = Object.fromEntries(hashed)
  return fits(least) ? least : null
}

const sizeOf = (value: Json): number => bytesOf(canonical(value)).length

interface Measure {
  names: number
  /** An upper bound of the size in bytes. */
  bytes: number
}

function fits(context: JsonObject): boolean {
  const seen: Measure = { names: 0, bytes: 0 }
  if (!measure(context, 1, seen) || seen.names > MAX_NAMES) return false
  return seen.bytes <= MAX_BYTES || sizeOf(context) <= MAX_BYTES
}

/** A UTF-16 unit becomes at most six bytes: `\u001f`. */
const textBytes = (text: string): number => 6 * text.length + 3
const NUMBER_BYTES = 26

function measure(value: Json, depth: number, seen: Measure): boolean {
  if (typeof value === 'string') seen.bytes += textBytes(value)
  else seen.bytes += NUMBER_BYTES
  if (typeof value !== 'object' || value === null) return true
  if (depth > MAX_DEPTH) return false
  if (Array.isArray(value)) return (value as Json[]).every((item) => measure(item, depth + 1, seen))
  for (const name of Object.keys(value)) {
    seen.names++
    seen.bytes += textBytes(name)
    if (!measure((value as JsonObject)[name] ?? null, depth + 1, seen)) return false
  }
  return true
}

async function shortTexts(value: Json): Promise<Json> {
  if (typeof value === 'string')
    return bytesOf(value).length > KEPT_BYTES ? shortened(value) : value
  if (Array.isArray(value)) return Promise.all(value.map((item: Json) => shortTexts(item)))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(async ([name, member]): Promise<[string, Json]> => [
    name,
    await shortTexts(member),
  ])
  return Object.fromEntries(await Promise.all(members))
}

async function hashedMember(member: Json): Promise<Json> {
  if (typeof member === 'string') return shortTexts(member)
  if (typeof member !== 'object' || member === null) return member
  const text = bytesOf(canonical(member))
  return { length: text.length, sha256: hex(await sha256(text)) }
}
