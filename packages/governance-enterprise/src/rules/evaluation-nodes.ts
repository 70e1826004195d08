import { FAILED } from '../base/seen-context.ts'
import type { BoundFacts } from './facts.ts'

/**
 * A condition or a part of one, ready to run; a value other than a boolean is an error where a
 * boolean is required. An object, not a closure: a closure needs two memory accesses, for the
 * function and its scope.
 */
export interface EvaluationNode {
  of(facts: BoundFacts): unknown
}

/** A literal of a condition that is a JSON scalar. */
export type Literal = string | number | boolean

/** Compares two numbers, texts or booleans. */
export type Comparison = (a: number, b: number) => boolean

type Rec = Readonly<Record<string, unknown>>

/** Returns whether a JSON value is an object. */
export const isRecord = (value: unknown): value is Rec =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns whether lists, texts or maps inherit a member of that name. */
const isInherited = (name: string): boolean =>
  name in Object.prototype || name in Array.prototype || name in String.prototype

/** An own member that is not null. */
const memberOf = (record: Rec, name: string): unknown => ownOf(record, name) ?? FAILED

const ownOf = (record: Rec, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** Returns whether a map has a member that is not null; an error where it is unknown. */
export function hasMember(record: Rec, name: string): unknown {
  const value = ownOf(record, name)
  return value === FAILED ? FAILED : value !== undefined && value !== null
}

/** A literal. */
export class Constant implements EvaluationNode {
  readonly #value: Literal

  constructor(value: Literal) {
    this.#value = value
  }

  of(): unknown {
    return this.#value
  }
}

/** The request's value of a variable. */
export class Variable implements EvaluationNode {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  of(facts: BoundFacts): unknown {
    return facts.values[this.#name] ?? FAILED
  }
}

/** `record.name`. */
export const selected = (record: EvaluationNode, name: string): EvaluationNode =>
  isInherited(name)
    ? new UnaryPredicate(record, (found) => (isRecord(found) ? memberOf(found, name) : FAILED))
    : new Selected(record, name)

/** A member whose name is never inherited. */
class Selected implements EvaluationNode {
  readonly #record: EvaluationNode
  readonly #name: string

  constructor(record: EvaluationNode, name: string) {
    this.#record = record
    this.#name = name
  }

  of(facts: BoundFacts): unknown {
    const record = this.#record.of(facts)
    return typeof record === 'object' && record !== null
      ? ((record as Rec)[this.#name] ?? FAILED)
      : FAILED
  }
}

/** `has(record.name)`: an error where that is no map. */
export const hasTest = (record: EvaluationNode, name: string): EvaluationNode =>
  new UnaryPredicate(record, (found) => (isRecord(found) ? hasMember(found, name) : FAILED))

/** A predicate of one value. */
export class UnaryPredicate implements EvaluationNode {
  readonly #part: EvaluationNode
  readonly #judge: (value: unknown) => unknown

  constructor(part: EvaluationNode, judge: (value: unknown) => unknown) {
    this.#part = part
    this.#judge = judge
  }

  of(facts: BoundFacts): unknown {
    const value = this.#part.of(facts)
    return value === FAILED ? FAILED : this.#judge(value)
  }
}

/** A predicate of two values. */
export class BinaryPredicate implements EvaluationNode {
  readonly #a: EvaluationNode
  readonly #b: EvaluationNode
  readonly #judge: (x: unknown, y: unknown) => unknown

  constructor(a: EvaluationNode, b: EvaluationNode, judge: (x: unknown, y: unknown) => unknown) {
    this.#a = a
    this.#b = b
    this.#judge = judge
  }

  of(facts: BoundFacts): unknown {
    const x = this.#a.of(facts)
    const y = this.#b.of(facts)
    return x === FAILED || y === FAILED ? FAILED : this.#judge(x, y)
  }
}

/** `!value`, for `UnaryPredicate`. */
export const negated = (value: unknown): unknown => (typeof value === 'boolean' ? !value : FAILED)

/** A comparison of two values of one type, for `BinaryPredicate`. */
export const ordered =
  (order: Comparison) =>
  (x: unknown, y: unknown): unknown => {
    const kind = typeof x
    return kind === typeof y && kind !== 'object' ? order(x as never, y as never) : FAILED
  }

/** `ordered` with a literal on the right, the usual case. */
export class LiteralComparison implements EvaluationNode {
  readonly #part: EvaluationNode
  readonly #limit: Literal
  readonly #order: Comparison

  constructor(part: EvaluationNode, limit: Literal, order: Comparison) {
    this.#part = part
    this.#limit = limit
    this.#order = order
  }

  of(facts: BoundFacts): unknown {
    const value = this.#part.of(facts)
    const limit = this.#limit
    return typeof value === typeof limit ? this.#order(value as never, limit as never) : FAILED
  }
}

/** Equality or inequality with a literal. */
export class LiteralEquality implements EvaluationNode {
  readonly #part: EvaluationNode
  readonly #literal: Literal
  readonly #wanted: boolean

  constructor(part: EvaluationNode, literal: Literal, wanted: boolean) {
    this.#part = part
    this.#literal = literal
    this.#wanted = wanted
  }

  of(facts: BoundFacts): unknown {
    const value = this.#part.of(facts)
    return value === FAILED ? FAILED : (value === this.#literal) === this.#wanted
  }
}

/** `&&` and `||`: one operand that determines the result suffices, even if the other fails. */
export class LogicalOperator implements EvaluationNode {
  readonly #a: EvaluationNode
  readonly #b: EvaluationNode
  readonly #settling: boolean

  constructor(a: EvaluationNode, b: EvaluationNode, settling: boolean) {
    this.#a = a
    this.#b = b
    this.#settling = settling
  }

  of(facts: BoundFacts): unknown {
    const settling = this.#settling
    const x = this.#a.of(facts)
    if (x === settling) return settling
    const y = this.#b.of(facts)
    if (y === settling) return settling
    return typeof x === 'boolean' && typeof y === 'boolean' ? !settling : FAILED
  }
}

/** `condition ? yes : no`. */
export class ConditionalOperator implements EvaluationNode {
  readonly #condition: EvaluationNode
  readonly #yes: EvaluationNode
  readonly #no: EvaluationNode

  constructor(condition: EvaluationNode, yes: EvaluationNode, no: EvaluationNode) {
    this.#condition = condition
    this.#yes = yes
    this.#no = no
  }

  of(facts: BoundFacts): unknown {
    const value = this.#condition.of(facts)
    return typeof value === 'boolean' ? (value ? this.#yes : this.#no).of(facts) : FAILED
  }
}
