import type { Facts } from './facts.ts'

/** The result of a failed evaluation. */
export const FAILED = Symbol('failed')

/**
 * A condition or a part of one, ready to run; a value other than a boolean is an error where a
 * boolean is required. An object, not a closure: a closure needs two memory accesses, for the
 * function and its scope.
 */
export interface Part {
  of(facts: Facts): unknown
}

/** A literal of a condition that is a JSON scalar. */
export type Literal = string | number | boolean

/** Compares two numbers, texts or booleans. */
export type Order = (a: number, b: number) => boolean

type Rec = Readonly<Record<string, unknown>>

/** Returns whether a JSON value is an object. */
export const isRecord = (value: unknown): value is Rec =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns whether lists, texts or maps inherit a member of that name. */
const isInherited = (name: string): boolean =>
  name in Object.prototype || name in Array.prototype || name in String.prototype

/** An own member that is not null. */
export function memberOf(record: Rec, name: string): unknown {
  const value = Object.hasOwn(record, name) ? record[name] : undefined
  return value ?? FAILED
}

/** A literal. */
export class Constant implements Part {
  readonly #value: Literal

  constructor(value: Literal) {
    this.#value = value
  }

  of(): unknown {
    return this.#value
  }
}

/** The request's value of a variable. */
export class Variable implements Part {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  of(facts: Facts): unknown {
    return facts.values[this.#name] ?? FAILED
  }
}

/** `record.name`. */
export const selected = (record: Part, name: string): Part =>
  isInherited(name)
    ? new One(record, (found) => (isRecord(found) ? memberOf(found, name) : FAILED))
    : new Selected(record, name)

/** A member whose name is never inherited. */
class Selected implements Part {
  readonly #record: Part
  readonly #name: string

  constructor(record: Part, name: string) {
    this.#record = record
    this.#name = name
  }

  of(facts: Facts): unknown {
    const record = this.#record.of(facts)
    return typeof record === 'object' && record !== null
      ? ((record as Rec)[this.#name] ?? FAILED)
      : FAILED
  }
}

/** `has(record.name)`. */
export class Tested implements Part {
  readonly #record: Part
  readonly #member: Part

  constructor(record: Part, name: string) {
    this.#record = record
    this.#member = selected(record, name)
  }

  of(facts: Facts): unknown {
    return this.#record.of(facts) === FAILED ? FAILED : this.#member.of(facts) !== FAILED
  }
}

/** A predicate of one value. */
export class One implements Part {
  readonly #part: Part
  readonly #judge: (value: unknown) => unknown

  constructor(part: Part, judge: (value: unknown) => unknown) {
    this.#part = part
    this.#judge = judge
  }

  of(facts: Facts): unknown {
    const value = this.#part.of(facts)
    return value === FAILED ? FAILED : this.#judge(value)
  }
}

/** A predicate of two values. */
export class Both implements Part {
  readonly #a: Part
  readonly #b: Part
  readonly #judge: (x: unknown, y: unknown) => unknown

  constructor(a: Part, b: Part, judge: (x: unknown, y: unknown) => unknown) {
    this.#a = a
    this.#b = b
    this.#judge = judge
  }

  of(facts: Facts): unknown {
    const x = this.#a.of(facts)
    const y = this.#b.of(facts)
    return x === FAILED || y === FAILED ? FAILED : this.#judge(x, y)
  }
}

/** `!value`, for `One`. */
export const negated = (value: unknown): unknown => (typeof value === 'boolean' ? !value : FAILED)

/** A comparison of two values of one type, for `Both`. */
export const ordered =
  (order: Order) =>
  (x: unknown, y: unknown): unknown => {
    const kind = typeof x
    return kind === typeof y && kind !== 'object' ? order(x as never, y as never) : FAILED
  }

/** `ordered` with a literal on the right, the usual case. */
export class Limited implements Part {
  readonly #part: Part
  readonly #limit: Literal
  readonly #order: Order

  constructor(part: Part, limit: Literal, order: Order) {
    this.#part = part
    this.#limit = limit
    this.#order = order
  }

  of(facts: Facts): unknown {
    const value = this.#part.of(facts)
    const limit = this.#limit
    return typeof value === typeof limit ? this.#order(value as never, limit as never) : FAILED
  }
}

/** Equality or inequality with a literal. */
export class Equal implements Part {
  readonly #part: Part
  readonly #literal: Literal
  readonly #wanted: boolean

  constructor(part: Part, literal: Literal, wanted: boolean) {
    this.#part = part
    this.#literal = literal
    this.#wanted = wanted
  }

  of(facts: Facts): unknown {
    const value = this.#part.of(facts)
    return value === FAILED ? FAILED : (value === this.#literal) === this.#wanted
  }
}

/** `&&` and `||`: one operand that determines the result suffices, even if the other fails. */
export class Logical implements Part {
  readonly #a: Part
  readonly #b: Part
  readonly #settling: boolean

  constructor(a: Part, b: Part, settling: boolean) {
    this.#a = a
    this.#b = b
    this.#settling = settling
  }

  of(facts: Facts): unknown {
    const settling = this.#settling
    const x = this.#a.of(facts)
    if (x === settling) return settling
    const y = this.#b.of(facts)
    if (y === settling) return settling
    return typeof x === 'boolean' && typeof y === 'boolean' ? !settling : FAILED
  }
}

/** `condition ? yes : no`. */
export class Chosen implements Part {
  readonly #condition: Part
  readonly #yes: Part
  readonly #no: Part

  constructor(condition: Part, yes: Part, no: Part) {
    this.#condition = condition
    this.#yes = yes
    this.#no = no
  }

  of(facts: Facts): unknown {
    const value = this.#condition.of(facts)
    return typeof value === 'boolean' ? (value ? this.#yes : this.#no).of(facts) : FAILED
  }
}
