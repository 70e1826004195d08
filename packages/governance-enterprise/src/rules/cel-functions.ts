import {
  celFunc,
  celMethod,
  CelScalar,
  celUint,
  isCelList,
  isCelMap,
  objectType,
} from '@bufbuild/cel'
import type { CelFunc, CelInput } from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { timestampFromMs, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { compilePattern } from '@remit/core'
import type { Pattern } from '@remit/core'

const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar
const TIMESTAMP = objectType(TimestampSchema)

/** Calls that a compiled condition has in place of what stands in its text. */
export const TICK = '@tick'
export const ELEMENTS = '@elements'

const MAX_ELEMENTS = 1_000
const MAX_TEXT = 256 * 1024
/** Instructions × characters of one `matches`: some 10 ms. */
const MAX_PATTERN_STEPS = 2e6

const INTEGER = /^[+-]?[0-9]{1,20}$/
const DECIMAL = /^[+-]?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?$/

/** Says when a decision has taken too long. */
export interface Meter {
  isOver(): boolean
}

let meter: Meter | undefined
let ticks = 0
// Asking the time costs as much as a few turns of a loop.
const TICKS_A_LOOK = 16

/** Runs an evaluation, which is synchronous, under a meter. */
export function metered<T>(by: Meter | undefined, run: () => T): T {
  const outer = meter
  meter = by
  try {
    return run()
  } finally {
    meter = outer
  }
}

function checkMeter(): void {
  if (meter?.isOver()) throw new Error('the decision takes too long')
}

/** Anything but plain decimal text is an error: `double('abc')` must not become a NaN that no rule catches. */
function numberOf(text: string, shape: RegExp): string {
  if (!shape.test(text)) throw new Error('the text is not a number')
  return text
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new Error('the number is beyond the range of a double')
  return value
}

function inRange(value: bigint, least: bigint, most: bigint): bigint {
  if (value < least || value > most) throw new Error('the number is beyond 64 bits')
  return value
}

const MAX_INT = 2n ** 63n - 1n
const MAX_UINT = 2n ** 64n - 1n

/** What one evaluation may go over; the request decides how long a list is. */
function elements(range: unknown): unknown {
  if (isCelList(range) || isCelMap(range)) {
    if (range.size > MAX_ELEMENTS) throw new Error(`more than ${MAX_ELEMENTS} elements`)
  }
  return range
}

/** Linear in the text, where the library's is quadratic; the result is bounded. */
function replace(text: string, from: string, to: string, times: number): string {
  if (from === '') throw new Error('there is nothing to replace')
  const parts = text.split(from)
  const replaced = Math.min(times < 0 ? parts.length - 1 : times, parts.length - 1)
  if (text.length + replaced * to.length > MAX_TEXT) throw new Error('the text becomes too long')
  const head = parts.slice(0, replaced + 1).join(to)
  return [head, ...parts.slice(replaced + 1)].join(from)
}

const patterns = new Map<string, Pattern>()
// A pattern may grow a table of 8 MB.
const MAX_PATTERNS = 32

/** A pattern in RE2 syntax; throws what is wrong with it. Compiled ones are kept, within bounds. */
export function patternOf(source: string): Pattern {
  let pattern = patterns.get(source)
  if (!pattern) {
    pattern = compilePattern(source, '', false, MAX_PATTERN_STEPS)
    if (patterns.size >= MAX_PATTERNS) patterns.clear()
    patterns.set(source, pattern)
  }
  return pattern
}

function matches(text: string, source: string): boolean {
  checkMeter()
  const found = patternOf(source).test(text)
  if (found === undefined) throw new Error('the text is too long for the pattern')
  return found
}

/**
 * The functions of a condition beside those of the standard: the `strings` extension, the guards that
 * a compiled condition calls, and what the library does otherwise than the specification says.
 */
export const FUNCTIONS: CelFunc[] = [
  ...strings,
  celFunc(TICK, [], BOOL, () => {
    if (++ticks % TICKS_A_LOOK === 0) checkMeter()
    return true
  }),
  celFunc(ELEMENTS, [DYN], DYN, (range) => elements(range) as CelInput),
  celFunc('double', [STRING], DOUBLE, (text) => finite(Number(numberOf(text, DECIMAL)))),
  celFunc('int', [STRING], INT, (text) =>
    inRange(BigInt(numberOf(text, INTEGER)), -MAX_INT - 1n, MAX_INT),
  ),
  celFunc('uint', [STRING], UINT, (text) =>
    celUint(inRange(BigInt(numberOf(text, INTEGER)), 0n, MAX_UINT)),
  ),
  celFunc('timestamp', [INT], TIMESTAMP, (seconds) => timestampFromMs(Number(seconds) * 1000)),
  celMethod('matches', STRING, [STRING], BOOL, function (source) {
    return matches(this, source)
  }),
  celMethod('replace', STRING, [STRING, STRING], STRING, function (from, to) {
    return replace(this, from, to, -1)
  }),
  celMethod('replace', STRING, [STRING, STRING, INT], STRING, function (from, to, times) {
    return replace(this, from, to, Number(times))
  }),
]
