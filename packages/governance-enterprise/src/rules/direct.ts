import { FAILED } from '../base/seen-context.ts'
import { isLongSearch } from './cel-costs.ts'
import {
  BinaryPredicate,
  ConditionalOperator,
  Constant,
  LiteralEquality,
  hasMember,
  hasTest,
  isRecord,
  LiteralComparison,
  LogicalOperator,
  negated,
  UnaryPredicate,
  ordered,
  selected,
  Variable,
} from './evaluation-nodes.ts'
import type { Literal, Comparison, EvaluationNode } from './evaluation-nodes.ts'
import { SharedValues, shared } from './shared-values.ts'
import type { Expr } from './syntax.ts'
import type { Variables } from './types.ts'

type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value']

/**
 * Compiles common conditions to a tree that runs on the JSON of the request, about fifty times
 * faster than the library: paths, literals, comparisons, `in`, `has`, prefixes and logic. It is a
 * subset of CEL with equal results, which a test compares with the library; null for other
 * conditions.
 */
export const compileDirectly = (expr: Expr, variables: Variables): EvaluationNode | null =>
  new Builder(variables).part(expr)

/** Compares two numbers, texts or booleans. */
const ORDERS: Readonly<Record<string, Comparison>> = {
  '_<_': (a, b) => a < b,
  '_<=_': (a, b) => a <= b,
  '_>_': (a, b) => a > b,
  '_>=_': (a, b) => a >= b,
}

const TESTS: Readonly<Record<string, (text: string, part: string) => unknown>> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => (isLongSearch(text.length, part.length) ? FAILED : text.includes(part)),
}

class Builder {
  readonly #variables: Variables

  constructor(variables: Variables) {
    this.#variables = variables
  }

  part(expr: Expr | undefined): EvaluationNode | null {
    switch (expr?.exprKind.case) {
      case 'constExpr': {
        const value = literalOf(expr)
        return value === undefined ? null : new Constant(value)
      }
      case 'identExpr':
        return this.#variable(expr.exprKind.value.name)
      case 'selectExpr': {
        const { operand, field, testOnly } = expr.exprKind.value
        const of = this.part(operand)
        if (!of) return null
        const make = () => (testOnly ? hasTest(of, field) : selected(of, field))
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

  #variable(name: string): EvaluationNode | null {
    const kind = Object.hasOwn(this.#variables, name) ? this.#variables[name] : undefined
    // A timestamp is not a JSON value, and a type name is not a variable.
    if (kind === undefined || kind === 'timestamp') return null
    return paths.get(name, () => new Variable(name))
  }

  #call({ target, function: name, args }: Call): EvaluationNode | null {
    const [first, second, third] = args
    if (target) {
      const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined
      const [text, part] = [this.part(target), this.part(first)]
      if (!test || !text || !part || args.length !== 1) return null
      return new BinaryPredicate(text, part, (a, b) =>
        typeof a === 'string' && typeof b === 'string' ? test(a, b) : FAILED,
      )
    }
    if (name === '_==_' || name === '_!=_') return this.#equality(first, second, name === '_==_')
    if (name === '@in') return this.#membership(first, second)
    const [a, b, c] = [this.part(first), this.part(second), this.part(third)]
    if (!a) return null
    if (name === '!_') return new UnaryPredicate(a, negated)
    if (!b) return null
    if (name === '_&&_') return new LogicalOperator(a, b, false)
    if (name === '_||_') return new LogicalOperator(a, b, true)
    if (name === '_?_:_') return c && new ConditionalOperator(a, b, c)
    const order = Object.hasOwn(ORDERS, name) ? ORDERS[name] : undefined
    if (!order) return null
    const limit = second && literalOf(second)
    if (limit === undefined) return new BinaryPredicate(a, b, ordered(order))
    return ofPath(first, name, limit, () => new LiteralComparison(a, limit, order))
  }

  /** Only with a scalar on one side; the library compares lists and maps. */
  #equality(
    left: Expr | undefined,
    right: Expr | undefined,
    wanted: boolean,
  ): EvaluationNode | null {
    const [a, b] = [this.part(left), this.part(right)]
    if (!a || !b || !(this.#isScalar(left) || this.#isScalar(right))) return null
    const literal = right && literalOf(right)
    if (literal === undefined) return new BinaryPredicate(a, b, (x, y) => (x === y) === wanted)
    return ofPath(
      left,
      wanted ? '==' : '!=',
      literal,
      () => new LiteralEquality(a, literal, wanted),
    )
  }

  #isScalar(expr: Expr | undefined): boolean {
    if (!expr) return false
    if (expr.exprKind.case !== 'identExpr') return literalOf(expr) !== undefined
    const kind = this.#variables[expr.exprKind.value.name]
    return kind === 'string' || kind === 'double'
  }

  /** Membership in a list of literals, or of a literal text in a value of the request. */
  #membership(left: Expr | undefined, right: Expr | undefined): EvaluationNode | null {
    const value = this.part(left)
    if (!value || !left) return null
    if (right?.exprKind.case === 'listExpr') {
      const elements = new Set<unknown>(right.exprKind.value.elements.map(literalOf))
      if (elements.has(undefined)) return null
      return new UnaryPredicate(value, (found) => elements.has(found))
    }
    const key = literalOf(left)
    const of = this.part(right)
    if (typeof key !== 'string' || !of) return null
    return new UnaryPredicate(of, (found) => {
      if (Array.isArray(found))
        return found.includes(key) || (found.includes(FAILED) ? FAILED : false)
      return isRecord(found) ? hasMember(found, key) : FAILED
    })
  }
}

const paths = new SharedValues<EvaluationNode>()

/** Compares a path with a literal; many rules share such comparisons. */
function ofPath(
  left: Expr | undefined,
  operator: string,
  literal: Literal,
  make: () => EvaluationNode,
): EvaluationNode {
  const path = pathOf(left)
  return path === null
    ? make()
    : paths.get(`${path} ${operator} ${typeof literal} ${literal}`, make)
}

/** The text of a path such as `context.amount`; null for other expressions. */
function pathOf(expr: Expr | undefined): string | null {
  if (expr?.exprKind.case === 'identExpr') return expr.exprKind.value.name
  if (expr?.exprKind.case !== 'selectExpr' || expr.exprKind.value.testOnly) return null
  const parent = pathOf(expr.exprKind.value.operand)
  return parent === null ? null : `${parent}.${expr.exprKind.value.field}`
}

/** A literal that is a JSON scalar and compares like one; otherwise undefined. */
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
