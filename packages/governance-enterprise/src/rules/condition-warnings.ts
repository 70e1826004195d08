import type { ContextReads } from './context-reads.ts'
import { partsOf, textOf } from './syntax.ts'
import type { Expr } from './syntax.ts'
import { AMOUNT, AMOUNT_RECORD } from './types.ts'
import type { Variables } from './types.ts'

/** Probable mistakes in a condition, by the effect of its rule; approval rules have those of a deny. */
export interface ConditionWarnings {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** The warnings of a condition that has been checked, before it is compiled. */
export function warningsOf(
  expr: Expr,
  reading: ContextReads,
  variables: Variables,
): ConditionWarnings {
  const { spelling } = reading
  const both =
    spelling !== null && Object.hasOwn(variables, AMOUNT)
      ? [
          `context.${spelling} is one of two spellings of the amount, and a request may have the other: read ${AMOUNT}, which is the amount of both`,
        ]
      : []
  const spelled = comparedFiles(expr).map(
    (path) =>
      `${path} is compared as it was sent, and a file has many spellings, such as /a/./b: compare context.files of a hook, or map the resource file:{/…} and name it in resources`,
  )
  const passed = pathsThatPass(expr).map(
    (path) =>
      `a request without ${path} passes this rule: without has(${path}), or with !has(${path}) || …, the rule applies to it`,
  )
  const openBelow = reading.openBelow.map(
    (name) => `context.${name} has only an upper bound, which negative numbers satisfy`,
  )
  const always = [...both, ...spelled]
  return { allow: [...openBelow, ...always], deny: [...passed, ...always] }
}

/** Members of `context.args` that are paths of files, by their names. */
const OF_FILE = /^context\.args\.(?:.*[._])?(?:dir|directory|file|filename|folder|path)s?$/
const BY_SPELLING: ReadonlySet<string> = new Set(['_==_', '_!=_', '@in', 'startsWith', 'endsWith'])

/** The paths of files that a condition compares by their spelling. */
function comparedFiles(condition: Expr): string[] {
  const compared = partsWithin(condition).flatMap(({ exprKind }) => {
    if (exprKind.case !== 'callExpr' || !BY_SPELLING.has(exprKind.value.function)) return []
    const { target, args } = exprKind.value
    return target ? [target] : args
  })
  const paths = compared.map(pathOf).filter((path) => path !== null)
  return [...new Set(paths.filter((path) => OF_FILE.test(path)))]
}

/** The warning of a condition that has the same result for every request. */
export const constantWarning = (result: boolean | 'error'): string =>
  result === 'error'
    ? 'the condition is always an error'
    : `the condition is ${result ? 'always' : 'never'} true`

/**
 * The paths whose presence a condition tests so that it does not hold without them, although it
 * compares them: `has(context.x) && context.x > 5`, but not `!has(context.x) || context.x > 5`.
 */
function pathsThatPass(condition: Expr): string[] {
  const all = partsWithin(condition)
  const tested = new Set(all.flatMap((expr) => testedBy(expr) ?? []))
  // The tests of the elements of a list are conditions of their own.
  const conditions = [condition, ...all.flatMap(testOfElements)]
  return [...tested].filter(
    (path) =>
      reads(condition, path) && conditions.some((one) => (outcomesOf(one, path) & TEST) !== 0),
  )
}

type Result = 'false' | 'true' | 'error'

/** A set of pairs of results: of a request without the member, and of the same one with it. */
type Outcomes = number

const RESULTS: readonly Result[] = ['false', 'true', 'error']
const outcome = (absent: Result, present: Result): Outcomes =>
  1 << (RESULTS.indexOf(absent) * 3 + RESULTS.indexOf(present))

const PAIRS = RESULTS.flatMap((absent) =>
  RESULTS.map((present) => ({ absent, present, bit: outcome(absent, present) })),
)
const pairsOf = (outcomes: Outcomes) => PAIRS.filter(({ bit }) => (outcomes & bit) !== 0)

const [NEVER, ALWAYS] = [outcome('false', 'false'), outcome('true', 'true')]
/** Depends on other facts. */
const UNRELATED = NEVER | ALWAYS
const TEST = outcome('false', 'true')
const READ = outcome('error', 'false') | outcome('error', 'true')

/** The possible results of an expression without and with the member at a path. */
function outcomesOf(expr: Expr, path: string): Outcomes {
  if (testedBy(expr) === path) return TEST
  const { exprKind } = expr
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind : null
  if (constant?.case === 'boolValue') return constant.value ? ALWAYS : NEVER
  if (exprKind.case === 'callExpr') {
    const { function: name, args } = exprKind.value
    const [a = UNRELATED, b = UNRELATED, c = UNRELATED] = LOGIC.has(name)
      ? args.map((arg) => outcomesOf(arg, path))
      : []
    if (name === '!_') return combined([a], ([x]) => opposite(x))
    if (name === '_&&_') return combined([a, b], ([x, y]) => and(x, y))
    if (name === '_||_')
      return combined([a, b], ([x, y]) => opposite(and(opposite(x), opposite(y))))
    if (name === '_==_' && args.some(isBoolean)) return combined([a, b], ([x, y]) => same(x, y))
    if (name === '_!=_' && args.some(isBoolean))
      return combined([a, b], ([x, y]) => opposite(same(x, y)))
    if (name === '_?_:_')
      return combined([a, b, c], ([x, y, z]) => (x === 'error' ? x : x === 'true' ? y : z))
  }
  const loop = exprKind.case === 'comprehensionExpr' ? exprKind.value : null
  if (loop?.iterRange && loop.loopStep && loop.accuInit && !reads(loop.iterRange, path)) {
    // The body of `all` and `exists`; `@result` is what the loop begins with.
    const start = outcomesOf(loop.accuInit, path)
    if (start === NEVER || start === ALWAYS) return outcomesOf(loop.loopStep, path)
  }
  if (!reads(expr, path)) return UNRELATED
  // A value chosen by a test can be anything.
  return partsWithin(expr).some((part) => testedBy(part) === path) ? READ | TEST : READ
}

const LOGIC: ReadonlySet<string> = new Set(['!_', '_&&_', '_||_', '_?_:_', '_==_', '_!=_'])

const isBoolean = ({ exprKind }: Expr): boolean =>
  exprKind.case === 'constExpr' && exprKind.value.constantKind.case === 'boolValue'

type Three = readonly [Result, Result, Result]

function combined(parts: readonly Outcomes[], result: (of: Three) => Result): Outcomes {
  let found = 0
  const [first = 0, second = UNRELATED, third = UNRELATED] = parts
  for (const x of pairsOf(first))
    for (const y of pairsOf(second))
      for (const z of pairsOf(third))
        found |= outcome(
          result([x.absent, y.absent, z.absent]),
          result([x.present, y.present, z.present]),
        )
  return found
}

const opposite = (result: Result): Result =>
  result === 'error' ? result : result === 'true' ? 'false' : 'true'

function and(x: Result, y: Result): Result {
  if (x === 'false' || y === 'false') return 'false'
  return x === 'true' && y === 'true' ? 'true' : 'error'
}

function same(x: Result, y: Result): Result {
  if (x === 'error' || y === 'error') return 'error'
  return x === y ? 'true' : 'false'
}

/** The tests of `filter`, `exists_one` and `map`. */
function testOfElements({ exprKind }: Expr): Expr[] {
  const step = exprKind.case === 'comprehensionExpr' ? exprKind.value.loopStep : undefined
  if (step?.exprKind.case !== 'callExpr' || step.exprKind.value.function !== '_?_:_') return []
  return step.exprKind.value.args.slice(0, 1)
}

function partsWithin(expr: Expr): Expr[] {
  const all = [expr]
  for (const part of all) all.push(...partsOf(part))
  return all
}

const reads = (expr: Expr, path: string): boolean =>
  partsWithin(expr).some((part) => {
    if (testedBy(part) === path) return false
    const read = testedBy(part)?.replace(/\.[^.]*$/, '') ?? pathOf(part)
    return read === path || read?.startsWith(`${path}.`) === true
  })

/** The path that `has(path)` or `'member' in path` tests. */
function testedBy(expr: Expr): string | null {
  const { exprKind } = expr
  if (exprKind.case === 'selectExpr' && exprKind.value.testOnly) return memberPath(expr)
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '@in') return null
  const [key, of] = exprKind.value.args
  const [name, parent] = [key && textOf(key), of && pathOf(of)]
  return name == null || parent == null ? null : `${parent}.${name}`
}

/** `a.b` or `a["b"]`; null for other expressions. */
function pathOf(expr: Expr): string | null {
  const { exprKind } = expr
  if (exprKind.case === 'identExpr') return exprKind.value.name
  if (exprKind.case === 'selectExpr') return exprKind.value.testOnly ? null : memberPath(expr)
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_[_]') return null
  const [of, key] = exprKind.value.args
  const [parent, name] = [of && pathOf(of), key && textOf(key)]
  return parent == null || name == null ? null : `${parent}.${name}`
}

function memberPath({ exprKind }: Expr): string | null {
  if (exprKind.case !== 'selectExpr') return null
  const { operand, field } = exprKind.value
  const parent = operand ? pathOf(operand) : null
  if (parent === AMOUNT_RECORD) return AMOUNT
  return parent === null ? null : `${parent}.${field}`
}
