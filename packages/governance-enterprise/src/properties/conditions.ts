import { ConditionError } from '../rules/condition-error.ts'
import { compileWithLibrary } from '../rules/condition.ts'
import { compileDirectly } from '../rules/direct.ts'
import type { BoundFacts } from '../rules/facts.ts'
import { parseCondition, partsOf, textOf } from '../rules/syntax.ts'
import type { Expr } from '../rules/syntax.ts'
import { AMOUNT, AMOUNT_RECORD, AUTHORIZE_VARIABLES } from '../rules/types.ts'

export type Literal = string | number | boolean

/** A value of the request that a condition reads, by the variable and the members in it. */
export interface ReadPath {
  readonly path: readonly string[]
  /** The literals that it is compared with. */
  readonly literals: readonly Literal[]
  /** More than comparisons with literals may depend on it: its values are only sampled. */
  readonly isOpaque: boolean
}

/** A part of a condition that depends on one value of the request. */
export interface Atom {
  readonly path: readonly string[]
  /** Its result as a letter. */
  of(facts: BoundFacts): string
}

/** The facts that a condition reads, and its comparisons. */
export interface ConditionReads {
  readonly paths: readonly ReadPath[]
  readonly atoms: readonly Atom[]
  /** The names that it compares the action and the agent with. */
  readonly names: readonly { readonly of: 'action' | 'agent_id'; readonly name: string }[]
  /** Times that it names, in milliseconds. */
  readonly times: readonly number[]
  /** Why it depends on more than that. */
  readonly gaps: readonly string[]
}

const LOGIC: ReadonlySet<string> = new Set(['_&&_', '_||_', '!_', '_?_:_'])
const EQUALITIES: ReadonlySet<string> = new Set(['_==_', '_!=_'])
const ORDERS: ReadonlySet<string> = new Set(['_<_', '_<=_', '_>_', '_>=_'])

/** Returns what a condition reads; one that does not compile fails for every request. */
export function readsOf(text: string): ConditionReads {
  const reader = new Reader()
  try {
    reader.formula(parseCondition(text).expr)
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error
    return new Reader()
  }
  return reader
}

class Reader implements ConditionReads {
  readonly paths: ReadPath[] = []
  readonly atoms: Atom[] = []
  readonly names: { of: 'action' | 'agent_id'; name: string }[] = []
  readonly times: number[] = []
  readonly gaps: string[] = []

  /** Logic over atoms depends on nothing else. */
  formula(expr: Expr): void {
    const { exprKind } = expr
    if (typeof literalOf(expr) === 'boolean') return
    if (exprKind.case === 'callExpr' && !exprKind.value.target) {
      const { function: name, args } = exprKind.value
      if (LOGIC.has(name)) return args.forEach((arg) => this.formula(arg))
      if (this.#comparison(expr, name, args)) return
    }
    const path = pathOf(expr)
    if (path !== null && isFact(path)) this.#atom(expr, path, [])
    else this.#opaque(expr)
  }

  /** `path == literal`, `path < number`, `path in [literals]`; false for other calls. */
  #comparison(expr: Expr, name: string, [left, right]: readonly Expr[]): boolean {
    if (!left || !right) return false
    const path = pathOf(left) ?? pathOf(right)
    const literals =
      name === '@in' && right.exprKind.case === 'listExpr'
        ? right.exprKind.value.elements.map(literalOf)
        : [literalOf(pathOf(left) ? right : left)]
    if (path === null || isTest(left) || isTest(right)) return false
    if (!literals.every((one) => one !== undefined)) return false
    const isOrder = ORDERS.has(name)
    const isMember = name === '@in' && right.exprKind.case === 'listExpr'
    if (!isOrder && !isMember && !EQUALITIES.has(name)) return false
    if (isOrder && typeof literals[0] !== 'number') return false
    if (isFact(path)) this.#atom(expr, path, literals)
    else {
      const [of, ...members] = path
      if ((of !== 'action' && of !== 'agent_id') || members.length > 0 || isOrder) return false
      for (const one of literals) if (typeof one === 'string') this.names.push({ of, name: one })
    }
    return true
  }

  #atom(expr: Expr, path: readonly string[], literals: readonly Literal[]): void {
    this.paths.push({ path, literals, isOpaque: false })
    this.atoms.push(atomOf(expr, path))
  }

  #opaque(expr: Expr): void {
    const paths: (readonly string[])[] = []
    const literals: Literal[] = []
    let gap = 'compares values of the request with each other'
    const walk = (one: Expr): void => {
      const literal = literalOf(one)
      if (literal !== undefined) literals.push(literal)
      const path = pathOf(one)
      if (path !== null && Object.hasOwn(AUTHORIZE_VARIABLES, path[0] ?? '')) {
        paths.push(path)
        if (!isFact(path)) gap = `reads \`${path.slice(0, 2).join('.')}\``
        return
      }
      if (one.exprKind.case === 'comprehensionExpr') gap = 'has a loop'
      if (one.exprKind.case === 'callExpr' && /^\w+$/.test(one.exprKind.value.function)) {
        const { function: name, args } = one.exprKind.value
        gap = `calls \`${name}\``
        const time = name === 'timestamp' && args[0] ? Date.parse(textOf(args[0]) ?? '') : NaN
        if (Number.isFinite(time)) this.times.push(time)
      }
      partsOf(one).forEach(walk)
    }
    walk(expr)
    this.gaps.push(gap)
    for (const path of paths) {
      this.paths.push({ path, literals, isOpaque: true })
      const [of, ...members] = path
      if ((of !== 'action' && of !== 'agent_id') || members.length > 0) continue
      for (const one of literals) if (typeof one === 'string') this.names.push({ of, name: one })
    }
  }
}

/** A value in the context, or the amount. */
const isFact = ([variable, ...members]: readonly string[]): boolean =>
  variable === AMOUNT ? members.length === 0 : variable === 'context' && members.length > 0

const isTest = ({ exprKind }: Expr): boolean =>
  exprKind.case === 'selectExpr' && exprKind.value.testOnly

/** `context.a.b`, `context["a"]`, `has(context.a)`; null for other expressions. */
function pathOf({ exprKind }: Expr): readonly string[] | null {
  if (exprKind.case === 'identExpr') {
    const { name } = exprKind.value
    return name === AMOUNT_RECORD ? [] : [name]
  }
  if (exprKind.case === 'selectExpr') {
    const { operand, field } = exprKind.value
    const parent = operand ? pathOf(operand) : null
    return parent && [...parent, field]
  }
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_[_]') return null
  const [of, key] = exprKind.value.args
  const [parent, name] = [of ? pathOf(of) : null, key ? textOf(key) : null]
  return parent && name !== null ? [...parent, name] : null
}

/** A JSON scalar; undefined for other expressions. */
function literalOf({ exprKind }: Expr): Literal | undefined {
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind : undefined
  switch (constant?.case) {
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
      return constant.value
    case 'int64Value':
    case 'uint64Value':
      return Number.isSafeInteger(Number(constant.value)) ? Number(constant.value) : undefined
    default:
      return undefined
  }
}

/** Compiled like the condition, on first use: the library changes the tree. */
function atomOf(expr: Expr, path: readonly string[]): Atom {
  let run: { of(facts: BoundFacts): unknown } | undefined
  return {
    path,
    of(facts) {
      run ??= compileDirectly(expr, AUTHORIZE_VARIABLES) ?? compileWithLibrary(expr)
      const result = run.of(facts)
      return result === true ? 't' : result === false ? 'f' : 'e'
    },
  }
}
