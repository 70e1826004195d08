import { parseJson } from '@remit/contract/json'
import { assign } from './matching.ts'
import { editsOf, similarity, relativeNearness } from './edit-distance.ts'

export interface JsonDiffOptions {
  readonly arrays: 'ordered' | 'unordered'
  readonly strings: 'levenshtein' | 'exact'
  readonly numbers: 'relative' | 'exact'
  /** Names to ignore, at any depth. */
  readonly ignored: ReadonlySet<string>
  /**
   * Follows autoevals in its differences: JSON text is parsed, other types are compared as text.
   */
  readonly autoevals: boolean
  /** Called for an array or a text that is too large to compare. */
  limit(what: string): never
}

/** Pairing n items with n takes n³ steps. */
export const MAX_PAIRED = 300
const MAX_TEXT = 50_000

/**
 * Returns the similarity of two JSON values, 0 to 1: for objects the mean over the names of both,
 * for arrays the sum over their items divided by the longer length. Null and missing are equal.
 * Recursive.
 */
export function jsonLikeness(left: unknown, right: unknown, options: JsonDiffOptions): number {
  const a = options.autoevals ? parsed(left) : left
  const b = options.autoevals ? parsed(right) : right
  if (a === undefined || a === null || b === undefined || b === null)
    return (a ?? null) === (b ?? null) ? 1 : 0
  if (Array.isArray(a) && Array.isArray(b)) return arrays(a as unknown[], b as unknown[], options)
  if (isObject(a) && isObject(b)) return objects(a, b, options)
  if (typeof a === 'string' && typeof b === 'string') return texts(a, b, options)
  if (typeof a === 'number' && typeof b === 'number') {
    if (options.numbers === 'exact') return a === b ? 1 : 0
    return relativeNearness(a, b)
  }
  if (options.autoevals) return texts(sortedText(a), sortedText(b), options)
  return a === b ? 1 : 0
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function objects(a: Fields, b: Fields, options: JsonDiffOptions): number {
  let sum = 0
  let names = 0
  const count = (name: string) => {
    if (options.ignored.has(name)) return
    names++
    sum += jsonLikeness(own(a, name), own(b, name), options)
  }
  for (const name of Object.keys(a)) count(name)
  for (const name of Object.keys(b)) if (!Object.hasOwn(a, name)) count(name)
  return names === 0 ? 1 : sum / names
}

const own = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

function arrays(a: readonly unknown[], b: readonly unknown[], options: JsonDiffOptions): number {
  const longer = Math.max(a.length, b.length)
  if (longer === 0) return 1
  if (options.arrays === 'unordered') return unordered(a, b, options) / longer
  let sum = 0
  for (let at = 0; at < Math.min(a.length, b.length); at++)
    sum += jsonLikeness(a[at], b[at], options)
  return sum / longer
}

function unordered(a: readonly unknown[], b: readonly unknown[], options: JsonDiffOptions): number {
  if (Math.max(a.length, b.length) > MAX_PAIRED)
    options.limit(`an array has more than ${MAX_PAIRED} items to pair`)
  const worth = new Float64Array(a.length * b.length)
  for (const [row, left] of a.entries())
    for (const [column, right] of b.entries())
      worth[row * b.length + column] = jsonLikeness(left, right, options)
  return worthOf(worth, a.length, b.length)
}

/** Returns the sum of the best pairs. */
function worthOf(worth: Float64Array, rows: number, columns: number): number {
  if (rows === 0 || columns === 0) return 0
  let sum = 0
  for (const [row, column] of assign(worth, rows, columns).entries())
    if (column >= 0) sum += worth[row * columns + column] ?? 0
  return sum
}

function texts(a: string, b: string, options: JsonDiffOptions): number {
  if (a === b) return 1
  if (options.strings === 'exact') return 0
  if (Math.max(a.length, b.length) > MAX_TEXT)
    options.limit(`a text is longer than ${MAX_TEXT} characters`)
  return similarity(editsOf(a, b))
}

/** As in autoevals: replaces a text that is a JSON object or array by its value. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const found = parseJson(value)
  return typeof found === 'object' && found !== null ? found : value
}

/** JSON text with sorted names, as autoevals compares values of different types. */
const sortedText = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) =>
    isObject(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
