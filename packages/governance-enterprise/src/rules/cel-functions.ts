import {
  celEnv,
  celFunc,
  celList,
  celMethod,
  CelScalar,
  celUint,
  isCelError,
  isCelList,
  isCelMap,
  listType,
  objectType,
} from '@bufbuild/cel'
import type { CelError, CelFunc, CelInput, CelList, CelValue } from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { compilePattern } from '@remit/core/pattern'
import type { Pattern } from '@remit/core/pattern'
import { LRUCache } from 'lru-cache'
import { fromJson } from '@bufbuild/protobuf'
import { timestampFromMs, TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { spend, counted, MAX_LIST, MAX_TEXT } from './cel-costs.ts'

const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar
const TIMESTAMP = objectType(TimestampSchema)

const DAY_MS = 86_400_000
const [MIN_SECONDS, MAX_SECONDS] = [-62_135_596_800n, 253_402_300_799n]
const OFFSET = /[+-](?:[01]\d|2[0-3]):[0-5]\d$/

/** A time in RFC 3339; throws for a day, hour or offset that does not exist, which the library shifts. */
function timestampOf(text: string): Timestamp {
  const written = text.slice(0, 19)
  const isReal =
    (text.endsWith('Z') || OFFSET.test(text)) &&
    new Date(`${written}Z`).toISOString().startsWith(written)
  if (!isReal) throw new Error('the text is not a time of RFC 3339')
  return fromJson(TimestampSchema, text)
}

function timestampAt(seconds: bigint): Timestamp {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS)
    throw new Error('the time is not in the years 1 to 9999')
  return timestampFromMs(Number(seconds) * 1000)
}

/** A local time as if it were UTC. */
function localTime({ seconds, nanos }: Timestamp, zone = 'UTC'): Date {
  // Nanoseconds count upwards, also before 1970.
  const ms = Number(seconds) * 1000 + Math.floor(nanos / 1_000_000)
  const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? []
  if (hours !== undefined) {
    if (Number(hours) > 23 || Number(minutes) > 59) throw new Error('there is no such time zone')
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
    return new Date(sign === '-' ? ms - offset : ms + offset)
  }
  return zone === 'UTC' ? new Date(ms) : new Date(ms + offsetAt(ms, zone))
}

/** The milliseconds by which the clocks of a zone are ahead of UTC; throws for an unknown zone. */
function offsetAt(ms: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  const part = (name: Intl.DateTimeFormatPartTypes) => Number(parts.get(name))
  const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year')
  const local = new Date(0)
  local.setUTCFullYear(year, part('month') - 1, part('day'))
  local.setUTCHours(part('hour'), part('minute'), part('second'))
  return local.getTime() - Math.floor(ms / 1000) * 1000
}

function dayOfYear(local: Date): number {
  const first = new Date(local)
  first.setUTCMonth(0, 1)
  return Math.round((local.getTime() - first.getTime()) / DAY_MS)
}

const GETTERS: Readonly<Record<string, (local: Date) => number>> = {
  getFullYear: (local) => local.getUTCFullYear(),
  getMonth: (local) => local.getUTCMonth(),
  getDate: (local) => local.getUTCDate(),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDayOfWeek: (local) => local.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (local) => local.getUTCHours(),
  getMinutes: (local) => local.getUTCMinutes(),
  getSeconds: (local) => local.getUTCSeconds(),
  getMilliseconds: (local) => local.getUTCMilliseconds(),
}

/**
 * Times in place of the library's, which shifts days that do not exist, rounds up to a millisecond,
 * and reads the parts of a time in the zone of the server, whose clocks skip an hour a year.
 */
const TIMES: readonly CelFunc[] = [
  celFunc('timestamp', [INT], TIMESTAMP, timestampAt),
  celFunc('timestamp', [STRING], TIMESTAMP, timestampOf),
  ...Object.entries(GETTERS).flatMap(([name, part]) => [
    celMethod(name, TIMESTAMP, [], INT, function () {
      return BigInt(part(localTime(this.message)))
    }),
    celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
      return BigInt(part(localTime(this.message, zone)))
    }),
  ]),
]

const LIST = listType(DYN)

/** Internal calls that a compiled condition contains instead of the written ones. */
export const TICK = '@tick'
export const ELEMENTS = '@elements'
export const MAP = '@map'

const MAX_ELEMENTS = 1_000
/** Instructions × characters of one `matches`: about 10 ms. */
const MAX_PATTERN_STEPS = 2e6
/** This many pattern steps take the time of one evaluation step. */
const PATTERN_STEPS = 16
/** Evaluation steps per instruction to compile an uncached pattern. */
const STEPS_AN_INSTRUCTION = 16
/** The maximum length of a condition. */
const MAX_PATTERN = 2 * 1024

const INTEGER = /^[+-]?[0-9]{1,20}$/
const DECIMAL = /^[+-]?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?$/

/** Accepts only plain decimal text: `double('abc')` must not become NaN. */
function numberOf(text: string, shape: RegExp): string {
  if (!shape.test(text)) throw new Error('the text is not a number')
  return text
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new Error('the number exceeds the range of a double')
  return value
}

function inRange(value: bigint, least: bigint, most: bigint): bigint {
  if (value < least || value > most) throw new Error('the number exceeds 64 bits')
  return value
}

const MAX_INT = 2n ** 63n - 1n
const MAX_UINT = 2n ** 64n - 1n

/** Limits the elements of a loop; the request determines the length of a list. */
function elements(range: unknown): unknown {
  if (isCelList(range) || isCelMap(range)) {
    if (range.size > MAX_ELEMENTS) throw new Error(`more than ${MAX_ELEMENTS} elements`)
  }
  return range
}

/** The operand of `has`. */
function map(value: unknown): unknown {
  if (!isCelMap(value)) throw new Error('only a map can have members')
  return value
}

const library = [...celEnv({}).funcs]
const EQUALS = library.find(({ name }) => name === '_==_')
const equals = (a: CelValue, b: CelValue): boolean => EQUALS?.call(0, undefined, [a, b]) === true

/** An element whose value is unknown may be the one that is looked for. */
function isIn(value: CelValue, list: CelList): boolean {
  let unknown: CelError | null = null
  for (const element of list as Iterable<CelValue | CelError>) {
    if (isCelError(element)) unknown = element
    else if (equals(element, value)) return true
  }
  if (unknown) throw unknown
  return false
}

/** Linear in the text; the library's is quadratic. */
function replace(text: string, from: string, to: string, times: number): string {
  if (from === '') throw new Error('the text to replace is empty')
  const parts = text.split(from)
  const replaced = Math.min(times < 0 ? parts.length - 1 : times, parts.length - 1)
  if (text.length + replaced * to.length > MAX_TEXT)
    throw new Error('the resulting text is too long')
  const head = parts.slice(0, replaced + 1).join(to)
  return [head, ...parts.slice(replaced + 1)].join(from)
}

function split(text: string, by: string, most: number): string[] {
  if (most === 1) return [text]
  // One more than a list may have, which makes it too long.
  const parts = text.split(by, MAX_LIST + 1)
  spend(parts.length)
  return most < 0 ? parts : parts.slice(0, most)
}

function join(list: CelList, separator: string): string {
  const parts: string[] = []
  let length = 0
  for (const part of list) {
    if (typeof part !== 'string') throw new Error('the list must contain only texts')
    length += part.length + separator.length
    if (length - separator.length > MAX_TEXT) throw new Error('the resulting text is too long')
    parts.push(part)
  }
  return parts.join(separator)
}

const arrays = new WeakMap<CelList, readonly CelValue[]>()

function arrayOf(list: CelList): readonly CelValue[] {
  let array = arrays.get(list)
  if (!array) {
    array = [...list]
    arrays.set(list, array)
  }
  return array
}

/**
 * Copies both lists. The library links them, so a loop of 1,000 iterations gives a list 1,000
 * levels deep that takes a million steps to read.
 */
function concatenated(a: CelList, b: CelList): CelList {
  const both = arrayOf(a).concat(arrayOf(b))
  const list = celList(both)
  arrays.set(list, both)
  return list
}

// A pattern may allocate a table of 8 MB.
const patterns = new LRUCache<string, Pattern>({ max: 32 })

/** A pattern in RE2 syntax; throws for invalid ones. Compiled patterns are cached within limits. */
export function patternOf(source: string): Pattern {
  let pattern = patterns.get(source)
  if (!pattern) {
    if (source.length > MAX_PATTERN) throw new Error('the pattern is too long')
    pattern = compilePattern(source, '', false, MAX_PATTERN_STEPS)
    spend(pattern.size * STEPS_AN_INSTRUCTION)
    patterns.set(source, pattern)
  }
  return pattern
}

function matches(text: string, source: string): boolean {
  const pattern = patternOf(source)
  spend((pattern.size * text.length) / PATTERN_STEPS)
  const found = pattern.test(text)
  if (found === undefined) throw new Error('the text is too long for the pattern')
  return found
}

/** Guards that compiled conditions call, and replacements of library functions. */
const OWN: readonly CelFunc[] = [
  celFunc(TICK, [], BOOL, () => true),
  celFunc(ELEMENTS, [DYN], DYN, (range) => elements(range) as CelInput),
  celFunc(MAP, [DYN], DYN, (value) => map(value) as CelInput),
  celFunc('@in', [DYN, LIST], BOOL, isIn),
  celFunc('_+_', [LIST, LIST], LIST, concatenated),
  celFunc('double', [STRING], DOUBLE, (text) => finite(Number(numberOf(text, DECIMAL)))),
  celFunc('int', [STRING], INT, (text) =>
    inRange(BigInt(numberOf(text, INTEGER)), -MAX_INT - 1n, MAX_INT),
  ),
  celFunc('uint', [STRING], UINT, (text) =>
    celUint(inRange(BigInt(numberOf(text, INTEGER)), 0n, MAX_UINT)),
  ),
  celMethod('matches', STRING, [STRING], BOOL, function (source) {
    return matches(this, source)
  }),
  celMethod('replace', STRING, [STRING, STRING], STRING, function (from, to) {
    return replace(this, from, to, -1)
  }),
  celMethod('replace', STRING, [STRING, STRING, INT], STRING, function (from, to, times) {
    return replace(this, from, to, Number(times))
  }),
  celMethod('split', STRING, [STRING], LIST, function (by) {
    return split(this, by, -1)
  }),
  celMethod('split', STRING, [STRING, INT], LIST, function (by, most) {
    return split(this, by, Number(most))
  }),
  celMethod('join', LIST, [], STRING, function () {
    return join(this, '')
  }),
  celMethod('join', LIST, [STRING], STRING, function (separator) {
    return join(this, separator)
  }),
]

/** All functions of conditions: the standard's, those of the `strings` extension, and our own. */
export const FUNCTIONS: CelFunc[] = [
  ...celEnv({ funcs: [...strings, ...OWN, ...TIMES] }).funcs,
].map(counted)
