import { celFunc, celMethod, isCelError, isCelList, isCelMap } from '@bufbuild/cel'
import type { CelFunc, CelInput, CelList } from '@bufbuild/cel'
import type { Meter } from '@remit/core/decision'

export const MAX_TEXT = 256 * 1024
export const MAX_LIST = 32 * 1024

/** Characters per step: read, copied and compared by the engine. */
const READ = 4
const MADE = 16
const COMPARED = 64
/** Steps of printing with `format`, per step of reading. */
const PRINTED = 8
/** List elements per step when a list is copied. */
const COPIED = 4
const TURN = 16
/** Steps of engine objects that are created for every decimal number and time zone. */
const LOCALE = 1_000
/** Steps per map member: `format` sorts them by locale rules. */
const MEMBER = 16

// Beyond this length the engine may compare all pairs of characters.
const LONG_PART = 250
/** Characters × characters of one search: about 10 ms. */
const MAX_SEARCH = 2 ** 25

/** The steps of a call; the receiver of a method is the first argument. */
type Cost = (...args: unknown[]) => number

const weights = new WeakMap<object, number>()

/**
 * The steps of reading a value with all its elements. Nested loops can share a list many times, so
 * that a small value takes days to read; each list and map is weighed once. Throws where a value is
 * unknown, so that every function that reads all of its arguments does.
 */
function weigh(value: unknown): number {
  if (isCelError(value)) throw value
  if (typeof value === 'string' || value instanceof Uint8Array) return 1 + value.length / READ
  if (!isCelList(value) && !isCelMap(value)) return 1
  let weight = weights.get(value)
  if (weight === undefined) {
    weight = 1
    if (isCelList(value)) for (const element of value) weight += weigh(element)
    else for (const [key, member] of value) weight += MEMBER + weigh(key) + weigh(member)
    weights.set(value, weight)
  }
  return weight
}

const weighAll: Cost = (...args) => args.reduce<number>((sum, arg) => sum + weigh(arg), 1)

/** Returns an existing value. */
const once: Cost = () => 1

/** Costs as much as its result is large. */
const made: Cost = () => 1

const isContainer = (value: unknown): boolean => isCelList(value) || isCelMap(value)

/** A comparison ends with the shorter value, and does not look into one if the other is a scalar. */
const compared: Cost = (a, b) => {
  if (typeof a === 'string' && typeof b === 'string')
    return 1 + Math.min(a.length, b.length) / COMPARED
  return isContainer(a) === isContainer(b) ? 1 + Math.min(weigh(a), weigh(b)) : 2
}

/** Elements are read as deep as they are compared. */
function searchedList(value: unknown, list: CelList): number {
  let weight = 1
  let isDeep = false
  for (const element of list) {
    const isOpen = isContainer(element)
    isDeep ||= isOpen
    weight += isOpen || isCelError(element) ? 1 : weigh(element)
  }
  if (!isContainer(value)) return Math.min(weight, 1 + list.size * weigh(value))
  return isDeep ? 1 + Math.min(weigh(list), list.size * weigh(value)) : 1 + list.size
}

const lengthOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 0

const sizeOf = (value: unknown): number => (isCelList(value) || isCelMap(value) ? value.size : 0)

/** Returns whether searching a text for a part of the given lengths takes too long. */
export const isLongSearch = (length: number, part: number): boolean =>
  part > LONG_PART && length * part > MAX_SEARCH

/** Throws if the library's search would take too long; our own evaluator does the same. */
const searched: Cost = (text, part) => {
  const [length, turns] = [lengthOf(text), lengthOf(part)]
  if (isLongSearch(length, turns)) throw new Error('the texts are too long to search')
  return 1 + (length * (turns > LONG_PART ? turns : 1)) / COMPARED
}

/** Backward search is naive. */
const searchedBack: Cost = (text, part) => 1 + (lengthOf(text) * (1 + lengthOf(part))) / COMPARED

/** The library writes characters one by one, and decimal numbers dominate. */
const formatted: Cost = (text, args) => {
  const decimals = String(text).match(/%(?:\.[0-9]*)?f/g)?.length ?? 0
  return PRINTED * weighAll(text, args) + decimals * LOCALE
}

const rewritten: Cost = (text) => 1 + lengthOf(text)

const COSTS: Readonly<Record<string, Cost>> = {
  '@tick': () => TURN,
  '@elements': (range) => 1 + sizeOf(range),
  '@map': once,
  '_==_': compared,
  '_!=_': compared,
  '_<_': compared,
  '_<=_': compared,
  '_>_': compared,
  '_>=_': compared,
  '@in': (value, of) => (isCelList(of) ? searchedList(value, of) : 1 + sizeOf(of)),
  '_+_': made,
  size: (value) => 1 + (typeof value === 'string' ? value.length / READ : 0),
  type: once,
  dyn: once,
  charAt: once,
  substring: once,
  lowerAscii: rewritten,
  upperAscii: rewritten,
  trim: rewritten,
  'strings.quote': rewritten,
  startsWith: (_, part) => 1 + lengthOf(part) / COMPARED,
  endsWith: (_, part) => 1 + lengthOf(part) / COMPARED,
  contains: searched,
  indexOf: searched,
  lastIndexOf: searchedBack,
  replace: (text, from, to) => searched(text, from) + weighAll(text, to),
  split: (text, by) => searched(text, by) + weigh(text),
  format: formatted,
}

/** Methods of a timestamp with a time zone. */
const inZone: Cost = (...args) => weighAll(...args) + LOCALE

/** Functions without an entry are assumed to read all arguments. */
function costOf({ name, arguments: takes }: CelFunc): Cost {
  if (/^get[A-Z]/.test(name) && takes.length > 0) return inZone
  const cost = Object.hasOwn(COSTS, name) ? COSTS[name] : undefined
  return cost ?? weighAll
}

const START = /^/

function checkMade(result: unknown): void {
  if (lengthOf(result) > MAX_TEXT) throw new Error('the resulting text is too long')
  if (isCelList(result) && result.size > MAX_LIST) throw new Error('the resulting list is too long')
  spend(lengthOf(result) / MADE + sizeOf(result) / COPIED)
  // The engine stores a concatenated text as pieces of 32 bytes until it is read.
  if (typeof result === 'string') START.test(result)
}

/** Wraps a function to spend its cost before it runs, and to limit the size of its result. */
export function counted(func: CelFunc): CelFunc {
  const cost = costOf(func)
  const { name, target, arguments: takes, result: gives } = func
  const run = (on: unknown, args: unknown[]): CelInput => {
    spend(target ? cost(on, ...args) : cost(...args))
    const result = func.call(0, on as never, args as never[])
    if (result === undefined || isCelError(result)) throw result ?? new Error('no such overload')
    if (cost !== once) checkMade(result)
    return result
  }
  return target
    ? celMethod(name, target, takes, gives, function (...args) {
        return run(this, args)
      })
    : celFunc(name, takes, gives, (...args) => run(undefined, args))
}

/**
 * The steps of one evaluation, of about 60 ns or 30 bytes each: independent of the machine's speed,
 * within 64 MB.
 */
const MAX_STEPS = 2e6
// Reading the clock costs as much as a few loop iterations.
const STEPS_A_LOOK = 256

class Budget {
  readonly #steps: number
  readonly #meter: Meter | undefined
  #spent = 0
  #looked = 0
  #end: Error | null = null

  constructor(steps: number, meter: Meter | undefined) {
    this.#steps = steps
    this.#meter = meter
  }

  /** Then the result is an error, even if CEL ignores the error of one operand. */
  get isOver(): boolean {
    return this.#end !== null
  }

  spend(steps: number): void {
    // CEL continues after an error if another operand or element can determine the result.
    if (this.#end) throw this.#end
    this.#spent += steps
    if (this.#spent > this.#steps)
      throw (this.#end = new Error('the condition exceeds its cost limit'))
    if (this.#spent - this.#looked < STEPS_A_LOOK) return
    this.#looked = this.#spent
    if (this.#meter?.isOver()) throw (this.#end = new Error('the decision exceeds its time limit'))
  }
}

let budget: Budget | null = null

/** Runs a synchronous evaluation within its limits; undefined if it exceeded them. */
export function bounded<T>(run: () => T, meter?: Meter, steps: number = MAX_STEPS): T | undefined {
  meter?.start?.()
  const outer = budget
  const own = new Budget(steps, meter)
  budget = own
  try {
    const result = run()
    return own.isOver ? undefined : result
  } finally {
    budget = outer
  }
}

/** Called before the work; throws if the budget is exceeded. */
export const spend = (steps: number): void => budget?.spend(steps)
