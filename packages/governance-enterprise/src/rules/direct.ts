import type { Facts } from './facts.ts'
import { Pool, shared } from './pool.ts'
import type { Expr } from './syntax.ts'
import type { Variables } from './types.ts'

/** What an evaluation gives in place of a value when it fails. */
const FAILED = Symbol('failed')

/** A condition or a part of one, ready to run; whatever is no flag is an error where one is wanted. */
export type Part = (facts: Facts) => unknown
type Literal = string | number | boolean
type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value']

/**
 * Conditions of the usual kind as JavaScript closures over the JSON of the request, some fifty times
 * faster than the library's plan: paths, literals, comparisons, `in`, `has`, prefixes and logic. It is
 * a part of CEL with the same answers, which a test compares with the library's; null for all else.
 */
export const compileDirectly = (expr: Expr, variables: Variables): Part | null =>
  new Builder(variables).part(expr)

type Order = (a: number, b: number) => boolean

/** Of two numbers, two texts or two flags. */
const ORDERS: Readonly<Record<string, Order>> = {
  '_<_': (a, b) => a < b,
  '_<=_': (a, b) => a <= b,
  '_>_': (a, b) => a > b,
  '_>=_': (a, b) => a >= b,
}

const TESTS: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => text.includes(part),
}

class Builder {
  readonly #variables: Variables

  constructor(variables: Variables) {
    this.#variables = variables
  }

  part(expr: Expr | undefined): Part | null {
    switch (expr?.exprKind.case) {
      case 'constExpr': {
        const value = literalOf(expr)
        return value === undefined ? null : () => value
      }
      case 'identExpr':
        return this.#variable(expr.exprKind.value.name)
      case 'selectExpr': {
        const { operand, field, testOnly } = expr.exprKind.value
        const of = this.part(operand)
        if (!of) return null
        const make = () => (testOnly ? tested(of, field) : selected(of, field))
        const parent = pathOf(operand)
        if (parent === null) return make()
        return paths.get(`${testOnly ? 'has ' : ''}${parent}.${field}`, make)
      }
      case 'callExpr':
        return this.#call(expr.exprKind.value)
      default:
        return null
    }
  }

  #variable(name: string): Part | null {
    const kind = Object.hasOwn(this.#variables, name) ? this.#variables[name] : undefined
    // A moment is no JSON value, and a type's name no variable.
    if (kind !== 'string' && kind !== 'record') return null
    return paths.get(name, () => (facts) => facts.values[name] ?? FAILED)
  }

  #call({ target, function: name, args }: Call): Part | null {
    const [first, second, third] = args
    if (target) {
      const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined
      const [text, part] = [this.part(target), this.part(first)]
      if (!test || !text || !part || args.length !== 1) return null
      return both(text, part, (a, b) =>
        typeof a === 'string' && typeof b === 'string' ? test(a, b) : FAILED,
      )
    }
    if (name === '_==_' || name === '_!=_') return this.#equality(first, second, name === '_==_')
    if (name === '@in') return this.#membership(first, second)
    const [a, b, c] = [this.part(first), this.part(second), this.part(third)]
    if (!a) return null
    if (name === '!_') return negated(a)
    if (!b) return null
    if (name === '_&&_') return logical(a, b, false)
    if (name === '_||_') return logical(a, b, true)
    if (name === '_?_:_') return c && chosen(a, b, c)
    const order = Object.hasOwn(ORDERS, name) ? ORDERS[name] : undefined
    if (!order) return null
    const limit = second && literalOf(second)
    if (limit === undefined) return ordered(a, b, order)
    return ofPath(first, name, limit, () => limited(a, limit, order))
  }

  /** Only with a scalar on one side: what is equal among lists and maps, the library says. */
  #equality(left: Expr | undefined, right: Expr | undefined, wanted: boolean): Part | null {
    const [a, b] = [this.part(left), this.part(right)]
    if (!a || !b || !(this.#isScalar(left) || this.#isScalar(right))) return null
    const literal = right && literalOf(right)
    if (literal === undefined) return both(a, b, (x, y) => (x === y) === wanted)
    return ofPath(left, wanted ? '==' : '!=', literal, () => equal(a, literal, wanted))
  }

  #isScalar(expr: Expr | undefined): boolean {
    if (!expr) return false
    if (expr.exprKind.case === 'identExpr')
      return this.#variables[expr.exprKind.value.name] === 'string'
    return literalOf(expr) !== undefined
  }

  /** In a list of literals, or a text that is a key or an element of something of the request. */
  #membership(left: Expr | undefined, right: Expr | undefined): Part | null {
    const value = this.part(left)
    if (!value || !left) return null
    if (right?.exprKind.case === 'listExpr') {
      const elements = new Set<unknown>(right.exprKind.value.elements.map(literalOf))
      if (elements.has(undefined)) return null
      return one(value, (found) => elements.has(found))
    }
    const key = literalOf(left)
    const of = this.part(right)
    if (typeof key !== 'string' || !of) return null
    return one(of, (found) => {
      if (Array.isArray(found)) return found.includes(key)
      return isRecord(found) ? memberOf(found, key) !== FAILED : FAILED
    })
  }
}

const paths = new Pool<Part>()

/** The comparison of a path with a literal: rules have many of them in common. */
function ofPath(
  left: Expr | undefined,
  operator: string,
  literal: Literal,
  make: () => Part,
): Part {
  const path = pathOf(left)
  return path === null
    ? make()
    : paths.get(`${path} ${operator} ${typeof literal} ${literal}`, make)
}

/** The text of a path such as `context.amount`; null for whatever else. */
function pathOf(expr: Expr | undefined): string | null {
  if (expr?.exprKind.case === 'identExpr') return expr.exprKind.value.name
  if (expr?.exprKind.case !== 'selectExpr' || expr.exprKind.value.testOnly) return null
  const parent = pathOf(expr.exprKind.value.operand)
  return parent === null ? null : `${parent}.${expr.exprKind.value.field}`
}

/** A literal that is a JSON scalar and compares like one; undefined for all others. */
function literalOf({ exprKind }: Expr): Literal | undefined {
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind : undefined
  switch (constant?.case) {
    case 'stringValue':
      return shared(constant.value)
    case 'boolValue':
    case 'doubleValue':
      return constant.value
    case 'int64Value':
    case 'uint64Value': {
      const number = Number(constant.value)
      return Number.isSafeInteger(number) ? number : undefined
    }
    default:
      return undefined
  }
}

type Rec = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Rec =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether some list, text or map has a member of that name that is not its own. */
const isInherited = (name: string): boolean =>
  name in Object.prototype || name in Array.prototype || name in String.prototype

/** An own member that is not null. */
function memberOf(record: Rec, name: string): unknown {
  const value = Object.hasOwn(record, name) ? record[name] : undefined
  return value ?? FAILED
}

function selected(of: Part, name: string): Part {
  if (isInherited(name)) {
    return (facts) => {
      const record = of(facts)
      return isRecord(record) ? memberOf(record, name) : FAILED
    }
  }
  return (facts) => {
    const record = of(facts)
    return typeof record === 'object' && record !== null
      ? ((record as Rec)[name] ?? FAILED)
      : FAILED
  }
}

function tested(of: Part, name: string): Part {
  const member = selected(of, name)
  return (facts) => (of(facts) === FAILED ? FAILED : member(facts) !== FAILED)
}

function one(part: Part, judge: (value: unknown) => unknown): Part {
  return (facts) => {
    const value = part(facts)
    return value === FAILED ? FAILED : judge(value)
  }
}

function both(a: Part, b: Part, judge: (x: unknown, y: unknown) => unknown): Part {
  return (facts) => {
    const x = a(facts)
    const y = b(facts)
    return x === FAILED || y === FAILED ? FAILED : judge(x, y)
  }
}

const ordered = (a: Part, b: Part, order: Order): Part =>
  both(a, b, (x, y) => {
    const kind = typeof x
    return kind === typeof y && kind !== 'object' ? order(x as never, y as never) : FAILED
  })

/** `ordered` where the right side is a literal, as nearly always. */
function limited(part: Part, limit: Literal, order: Order): Part {
  const kind = typeof limit
  return (facts) => {
    const value = part(facts)
    return typeof value === kind ? order(value as never, limit as never) : FAILED
  }
}

/** Equality, or its opposite, with a literal. */
const equal =
  (part: Part, literal: Literal, wanted: boolean): Part =>
  (facts) => {
    const value = part(facts)
    return value === FAILED ? FAILED : (value === literal) === wanted
  }

const negated = (part: Part): Part =>
  one(part, (value) => (typeof value === 'boolean' ? !value : FAILED))

/** `&&` and `||`: one side that settles it is enough, even where the other fails. */
function logical(a: Part, b: Part, settling: boolean): Part {
  return (facts) => {
    const x = a(facts)
    if (x === settling) return settling
    const y = b(facts)
    if (y === settling) return settling
    return typeof x === 'boolean' && typeof y === 'boolean' ? !settling : FAILED
  }
}

const chosen =
  (condition: Part, yes: Part, no: Part): Part =>
  (facts) => {
    const value = condition(facts)
    return typeof value === 'boolean' ? (value ? yes : no)(facts) : FAILED
  }
