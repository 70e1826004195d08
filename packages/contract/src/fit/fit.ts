import { bytesOf } from './digest.ts'
import { canonical, pointerOf } from './json.ts'
import type { Json, JsonObject } from './json.ts'
import { digesting, isStub, KEPT_BYTES, shortening } from './shortened.ts'
import type { Shortened } from './shortened.ts'

const MAX_BYTES = 64 * 1024
const MAX_NAMES = 2_000
const MAX_DEPTH = 32
/** The most replaced places of a context. */
export const MAX_REPLACED = 100
/** The longest pointer to one. */
export const MAX_POINTER = 1_024

/** A context as it is sent. */
export interface Fitted {
  readonly context: JsonObject
  /** JSON Pointers (RFC 6901) to the places whose values are not sent: what is there, or below, is unknown. */
  readonly replaced: readonly string[]
}

const NONE: readonly string[] = []

/**
 * A context within the limits of Remit: 64 KiB, 2,000 names, 32 levels. Values stay as they are as deep as
 * fits. What is too deep or too large is replaced by `{ length, sha256 }`, a long text by
 * `{ length, sha256, start }`, and `replaced` has the places. Where nothing can be kept, the whole context is
 * replaced, and `replaced` is `['']`.
 */
export const fitted = (context: JsonObject): Fitted | Promise<Fitted> =>
  fits(context) ? { context, replaced: NONE } : shrunk(context)

interface Measure {
  names: number
  /** An upper bound of the size in bytes. */
  bytes: number
}

function fits(context: JsonObject): boolean {
  const seen: Measure = { names: 0, bytes: 0 }
  if (!measure(context, 1, seen) || seen.names > MAX_NAMES) return false
  return seen.bytes <= MAX_BYTES || bytesOf(canonical(context)).length <= MAX_BYTES
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
    if (name === 'sha256' && isStub(value)) return false
    if (!measure((value as JsonObject)[name] ?? null, depth + 1, seen)) return false
  }
  return true
}

/** An object, an array or a longer text, in a context that does not fit. */
interface Part {
  readonly value: Json
  readonly step: string
  readonly outer: Part | null
  readonly inner: Part[]
  /** The size of its JSON, with replaced places; at least that. */
  bytes: number
  names: number
  by: Shortened | null
  /** Has a replaced place. */
  isTouched: boolean
}

/** The most bytes of `{"length":…,"sha256":"…"}`, and those of the member `start` without its value. */
const STUB_BYTES = 96
const START_BYTES = 9
const STUB_NAMES = 2
/** Parts of one list or object that are replaced, before it is replaced itself. */
const MAX_TOGETHER = 16
/** Long texts of which the start is kept; no more than these fit. */
const MAX_SHORTENED = 32
/** A replaced place adds names or bytes where it saves the other, and then another one has to go. */
const ROUNDS = 3

async function shrunk(context: JsonObject): Promise<Fitted> {
  const root = measured(context, '', null, 1)
  for (let round = 0; round < ROUNDS && !isWithin(root); round++) {
    if (root.names > MAX_NAMES) shed(root, root.names - MAX_NAMES, namesSaved)
    const over = root.bytes - MAX_BYTES
    if (over > 0 && !shorten(root, over)) shed(root, over, bytesSaved)
  }
  const places: Part[] = []
  const made = rebuilt(root, places) as JsonObject
  const replaced = isWithin(root) ? pointersTo(places) : null
  if (replaced === null) return unseen(context)
  for (const { by } of places) await by?.finish()
  return { context: made, replaced }
}

async function unseen(context: JsonObject): Promise<Fitted> {
  const { stub, finish } = digesting(bytesOf(canonical(context)))
  await finish()
  return { context: stub, replaced: [''] }
}

const isWithin = ({ names, bytes }: Part): boolean => names <= MAX_NAMES && bytes <= MAX_BYTES

/** Texts that JSON writes as they are, one byte for each character. */
const PLAIN = /^[ !#-[\]-~]*$/

function jsonBytes(value: Json): number {
  if (typeof value === 'string' && PLAIN.test(value)) return value.length + 2
  if (typeof value === 'number') return String(value).length
  return bytesOf(JSON.stringify(value)).length
}

const partOf = (value: Json, step: string, outer: Part | null): Part => ({
  value,
  step,
  outer,
  inner: [],
  bytes: 0,
  names: 0,
  by: null,
  isTouched: false,
})

/** Measures an object or array. What is too deep is replaced at once. */
function measured(value: Json & object, step: string, outer: Part | null, depth: number): Part {
  const part = partOf(value, step, outer)
  const names = Object.keys(value)
  const isList = Array.isArray(value)
  if (!isList && isStub(value)) {
    part.bytes = jsonBytes(value)
    part.names = names.length
    return standIn(part, { stub: value, finish: () => Promise.resolve() })
  }
  part.bytes = 1 + Math.max(names.length, 1)
  // In order, so that the result is the same everywhere.
  for (const name of isList ? names : names.toSorted()) {
    const found = (value as JsonObject)[name] ?? null
    if (!isList) {
      part.names++
      part.bytes += jsonBytes(name) + 1
    }
    if (typeof found === 'object' && found !== null) {
      if (depth === MAX_DEPTH) {
        part.bytes = STUB_BYTES
        part.names = STUB_NAMES
        return standIn(part, digesting(bytesOf(canonical(value))))
      }
      const inner = measured(found, name, part, depth + 1)
      part.inner.push(inner)
      part.bytes += inner.bytes
      part.names += inner.names
      continue
    }
    const bytes = jsonBytes(found)
    part.bytes += bytes
    if (typeof found === 'string' && bytes > STUB_BYTES)
      part.inner.push({ ...partOf(found, name, part), bytes })
  }
  return part
}

function standIn(part: Part, by: Shortened): Part {
  part.by = by
  for (let outer = part.outer; outer && !outer.isTouched; outer = outer.outer)
    outer.isTouched = true
  return part
}

function replace(part: Part, by: Shortened, bytes: number, names: number): void {
  for (let outer = part.outer; outer; outer = outer.outer) {
    outer.bytes -= part.bytes - bytes
    outer.names -= part.names - names
  }
  part.bytes = bytes
  part.names = names
  standIn(part, by)
}

function replaceWhole(part: Part): void {
  const { value } = part
  const bytes = bytesOf(typeof value === 'string' ? value : canonical(value))
  replace(part, digesting(bytes), STUB_BYTES, STUB_NAMES)
}

type Saved = (part: Part) => number

const namesSaved: Saved = ({ by, names }) => (by ? 0 : names - STUB_NAMES)
const bytesSaved: Saved = ({ by, bytes }) => (by ? 0 : bytes - STUB_BYTES)

/**
 * Replaces the smallest part that saves enough; where it takes several, the largest ones that lie side by
 * side, if they are few.
 */
function shed(root: Part, excess: number, saved: Saved): void {
  for (let part = root; ;) {
    const most = part.inner.filter((one) => saved(one) > 0).toSorted((a, b) => saved(b) - saved(a))
    const enough = most.findLast((one) => saved(one) >= excess)
    if (enough) {
      part = enough
      continue
    }
    let left = excess
    let count = 0
    for (; left > 0 && count < most.length; count++) left -= saved(most[count] ?? part)
    if (part !== root && (left > 0 || count > MAX_TOGETHER)) replaceWhole(part)
    else if (count <= MAX_REPLACED) most.slice(0, count).forEach(replaceWhole)
    return
  }
}

/** Keeps only the start of the longest texts; false if that does not save enough. */
function shorten(root: Part, excess: number): boolean {
  const longest = longTexts(root)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, MAX_SHORTENED)
  let left = excess
  const taken: [Part, Shortened, number][] = []
  for (const part of longest) {
    if (left <= 0) break
    const by = shortening(part.value as string)
    const bytes = STUB_BYTES + START_BYTES + jsonBytes(by.stub.start ?? '')
    if (bytes >= part.bytes) continue
    left -= part.bytes - bytes
    taken.push([part, by, bytes])
  }
  if (left > 0) return false
  for (const [part, by, bytes] of taken) replace(part, by, bytes, STUB_NAMES + 1)
  return true
}

const longTexts = (part: Part): Part[] =>
  part.inner.flatMap((one) => {
    if (one.by) return []
    if (typeof one.value !== 'string') return longTexts(one)
    return bytesOf(one.value).length > KEPT_BYTES ? [one] : []
  })

/** The value with its replaced places, which are added to `places`. */
function rebuilt(part: Part, places: Part[]): Json {
  if (part.by) {
    places.push(part)
    return part.by.stub
  }
  if (!part.isTouched) return part.value
  const { value } = part
  const copy = Array.isArray(value) ? [...(value as Json[])] : { ...(value as JsonObject) }
  for (const one of part.inner)
    if (one.by ?? one.isTouched) (copy as Record<string, Json>)[one.step] = rebuilt(one, places)
  return copy
}

function stepsTo(part: Part): string[] {
  const steps: string[] = []
  for (let one = part; one.outer; one = one.outer) steps.push(one.step)
  return steps.toReversed()
}

/** Where they are too many, they are named by what contains them. Null if even that is too much. */
function pointersTo(places: readonly Part[]): string[] | null {
  const all = places.map(stepsTo)
  for (let depth = MAX_DEPTH; depth > 0; depth--) {
    const pointers = [...new Set(all.map((steps) => pointerOf(steps.slice(0, depth))))]
    if (pointers.length > MAX_REPLACED || pointers.some(({ length }) => length > MAX_POINTER))
      continue
    return pointers.toSorted()
  }
  return null
}
