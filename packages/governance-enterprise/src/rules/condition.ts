import { celEnv, plan } from '@bufbuild/cel'
import type { Meter } from '@remit/core/decision'
import { LRUCache } from 'lru-cache'
import { bounded } from './cel-costs.ts'
import { ELEMENTS, FUNCTIONS, MAP, TICK } from './cel-functions.ts'
import { checkCondition } from './check.ts'
import { ConditionError } from './condition-error.ts'
import { constantWarning, warningsOf } from './condition-warnings.ts'
import type { ConditionWarnings } from './condition-warnings.ts'
import { compileDirectly, sharedList, sharedSet } from './direct.ts'
import { makeFacts } from './facts.ts'
import type { BoundFacts } from './facts.ts'
import { parseCondition, partsOf } from './syntax.ts'
import type { Expr } from './syntax.ts'
import { AUTHORIZE_VARIABLES } from './types.ts'
import type { Variables } from './types.ts'

export { ConditionError } from './condition-error.ts'

/** A compiled CEL condition with three results; the rule interprets an error. */
export interface Condition {
  readonly text: string
  /** Top-level members of `context` that it reads; `all` if unknown. */
  readonly reads: ReadonlySet<string> | 'all'
  /** Warnings about probable mistakes of the author. */
  readonly warnings: ConditionWarnings
  /** Results other than `true` and `false`, and decisions beyond the time of `meter`, are errors. */
  evaluate(facts: BoundFacts, meter?: Meter): boolean | 'error'
}

const environment = celEnv({ funcs: FUNCTIONS })

/** About 0.3 ms: a trial may have a thousand rules. */
const STEPS_AHEAD = 5_000

// About 4 KB per condition.
const MAX_KEPT = 10_000
const kept = new WeakMap<Variables, LRUCache<string, Condition>>()

/** Compiles a condition; throws `ConditionError` with its position. Cached by text. */
export function compileCondition(
  text: string,
  variables: Variables = AUTHORIZE_VARIABLES,
): Condition {
  const conditions = kept.get(variables) ?? new LRUCache<string, Condition>({ max: MAX_KEPT })
  kept.set(variables, conditions)
  let condition = conditions.get(text)
  if (!condition) {
    condition = new CelCondition(text, variables)
    conditions.set(text, condition)
  }
  return condition
}

/**
 * The condition of a stored text, compiled on first use. A text that no longer compiles is an error
 * at every evaluation.
 */
export const conditionOf = (text: string, variables: Variables = AUTHORIZE_VARIABLES): Condition =>
  new StoredCondition(text, variables)

class StoredCondition implements Condition {
  readonly text: string
  readonly #variables: Variables
  #compiled: Condition | null = null

  constructor(text: string, variables: Variables) {
    this.text = text
    this.#variables = variables
  }

  get reads(): Condition['reads'] {
    return this.#get().reads
  }

  get warnings(): Condition['warnings'] {
    return this.#get().warnings
  }

  evaluate(facts: BoundFacts, meter?: Meter): boolean | 'error' {
    return this.#get().evaluate(facts, meter)
  }

  #get(): Condition {
    return (this.#compiled ??= compileOrError(this.text, this.#variables))
  }
}

function compileOrError(text: string, variables: Variables): Condition {
  try {
    return compileCondition(text, variables)
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error
    const warnings = [error.message]
    return {
      text,
      reads: 'all',
      warnings: { allow: warnings, deny: warnings },
      evaluate: () => 'error',
    }
  }
}

/** A compiled text: our own tree, or the library's evaluation. */
interface Run {
  of(facts: BoundFacts, meter?: Meter, steps?: number): unknown
}

export const answerOf = (result: unknown): boolean | 'error' =>
  typeof result === 'boolean' ? result : 'error'

class CelCondition implements Condition {
  readonly #run: Run
  readonly text: string
  readonly reads: Condition['reads']
  readonly warnings: ConditionWarnings

  constructor(text: string, variables: Variables) {
    const syntax = parseCondition(text)
    const reading = checkCondition(syntax, variables)
    this.text = text
    const { allow, deny } = warningsOf(syntax.expr, reading, variables)
    this.#run = compileDirectly(syntax.expr, variables) ?? compileWithLibrary(syntax.expr)
    this.reads = reading.members === 'all' ? 'all' : sharedSet(reading.members)
    const constant = reading.isConstant ? this.#foresee() : null
    const always = constant === null ? [] : [constantWarning(constant)]
    this.warnings = {
      allow: sharedList([...allow, ...always]),
      deny: sharedList([...deny, ...always]),
    }
  }

  evaluate(facts: BoundFacts, meter?: Meter): boolean | 'error' {
    return answerOf(this.#run.of(facts, meter))
  }

  /**
   * The constant result of a condition; null if it depends on the request or takes too long to
   * compute.
   */
  #foresee(): boolean | 'error' | null {
    const result = this.#run.of(makeFacts({}), undefined, STEPS_AHEAD)
    return result === undefined ? null : answerOf(result)
  }
}

/** Compiles a tree with the library, and adds limits and checks to its calls in place. */
export function compileWithLibrary(expr: Expr): Run {
  guardCalls(expr)
  const run = plan(environment, expr) as (bindings: BoundFacts['bindings']) => unknown
  return { of: ({ bindings }, meter, steps) => bounded(() => run(bindings), meter, steps) }
}

/**
 * Limits every loop of a tree in place: to 1,000 elements, and to the time of the decision. The
 * text determines the loop, but the request its length. `has()` on what is no map becomes an error, as CEL
 * defines it; it is false for the library.
 */
function guardCalls(expr: Expr): void {
  partsOf(expr).forEach(guardCalls)
  if (expr.exprKind.case === 'selectExpr') {
    const select = expr.exprKind.value
    if (select.testOnly && select.operand)
      select.operand = call(select.operand.id, MAP, [select.operand])
  }
  if (expr.exprKind.case !== 'comprehensionExpr') return
  const loop = expr.exprKind.value
  const { iterRange, loopCondition } = loop
  if (iterRange) loop.iterRange = call(expr.id, ELEMENTS, [iterRange])
  if (loopCondition)
    loop.loopCondition = call(expr.id, '_&&_', [loopCondition, call(expr.id, TICK, [])])
}

const call = (id: bigint, name: string, args: Expr[]): Expr => ({
  $typeName: 'cel.expr.Expr',
  id,
  exprKind: {
    case: 'callExpr',
    value: { $typeName: 'cel.expr.Expr.Call', function: name, args },
  },
})
