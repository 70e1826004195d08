import type { ConditionError } from './condition-error.ts'
import { patternOf } from './cel-functions.ts'
import { ContextReads } from './context-reads.ts'
import type { Expr, Syntax } from './syntax.ts'
import {
  AMOUNT,
  AMOUNT_RECORD,
  either,
  GLOBAL_FUNCTIONS,
  isComparable,
  isNumber,
  mayBeBool,
  METHODS,
  named,
  timeArithmetic,
  TYPE_NAMES,
} from './types.ts'
import type { ValueType, Variables } from './types.ts'

const MAX_NODES = 256
const MAX_DEPTH = 32
const MAX_LIST = 128
const MAX_LOOPS_IN_A_ROW = 4
const MAX_INT = 2n ** 63n - 1n
const MAX_UINT = 2n ** 64n - 1n

const ORDERS: ReadonlySet<string> = new Set(['_<_', '_<=_', '_>_', '_>=_'])
const EQUALITIES: ReadonlySet<string> = new Set(['_==_', '_!=_'])
const LOGIC: ReadonlySet<string> = new Set(['_&&_', '_||_', '!_'])
const ARITHMETIC: ReadonlySet<string> = new Set(['_+_', '_-_', '_*_', '_/_', '_%_'])

/** The types of literals. */
const CONSTANTS: ReadonlyMap<string, ValueType> = new Map([
  ['boolValue', 'bool'],
  ['stringValue', 'string'],
  ['bytesValue', 'bytes'],
  ['nullValue', 'null'],
  ['doubleValue', 'double'],
  ['int64Value', 'int'],
  ['uint64Value', 'uint'],
])

type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value']
type Fold = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value']
/** Loop variables in scope, and the nesting depth. */
interface Place {
  readonly bound: ReadonlyMap<string, ValueType>
  readonly depth: number
  readonly inLoop: boolean
  /** The number of loops over the result. */
  readonly loopsOver: number
}

/**
 * Checks a condition before its first evaluation: sizes, names and known types. Throws
 * `ConditionError`; returns the members that the condition reads.
 */
export function checkCondition(syntax: Syntax, variables: Variables): ContextReads {
  const check = new Check(syntax, variables)
  const kind = check.kindOf(syntax.expr, {
    bound: new Map(),
    depth: 1,
    inLoop: false,
    loopsOver: 0,
  })
  if (!mayBeBool(kind))
    throw syntax.errorAt(
      syntax.expr.id,
      `returns ${named(kind)}; a condition must return true or false`,
    )
  return check.reading
}

class Check {
  readonly reading = new ContextReads()
  readonly #syntax: Syntax
  readonly #variables: Variables
  #nodes = 0

  constructor(syntax: Syntax, variables: Variables) {
    this.#syntax = syntax
    this.#variables = variables
  }

  kindOf(expr: Expr, place: Place): ValueType {
    if (++this.#nodes > MAX_NODES)
      throw this.#error(expr, `has more than ${MAX_NODES} parts; split the rule`)
    if (place.depth > MAX_DEPTH)
      throw this.#error(expr, `is nested more than ${MAX_DEPTH} levels deep`)
    this.reading.see(expr, (name) => place.bound.has(name))
    const { exprKind } = expr
    const inner = { ...place, depth: place.depth + 1 }
    switch (exprKind.case) {
      case 'constExpr':
        return this.#constant(expr, exprKind.value.constantKind)
      case 'identExpr':
        return this.#name(expr, exprKind.value.name, place)
      case 'selectExpr': {
        const { operand, field, testOnly } = exprKind.value
        const of = operand ? this.kindOf(operand, inner) : 'unknown'
        if (!['record', 'map', 'json', 'unknown'].includes(of))
          throw this.#error(expr, `${named(of)} has no field ${field}`)
        if (testOnly) return 'bool'
        return of === 'record' || of === 'json' ? 'json' : 'unknown'
      }
      case 'callExpr':
        return this.#call(expr, exprKind.value, inner)
      case 'listExpr': {
        const { elements } = exprKind.value
        if (elements.length > MAX_LIST)
          throw this.#error(
            expr,
            `the list has ${elements.length} elements; at most ${MAX_LIST} are allowed`,
          )
        for (const element of elements) this.kindOf(element, inner)
        return 'list'
      }
      case 'structExpr': {
        const { messageName, entries } = exprKind.value
        if (messageName !== '') throw this.#error(expr, `there is no type ${messageName}`)
        for (const { keyKind, value } of entries) {
          if (keyKind.case === 'mapKey') this.kindOf(keyKind.value, inner)
          if (value) this.kindOf(value, inner)
        }
        return 'map'
      }
      case 'comprehensionExpr':
        return this.#fold(expr, exprKind.value, inner)
      default:
        throw this.#error(expr, 'is not supported')
    }
  }

  #constant(expr: Expr, constant: { case?: string | undefined; value?: unknown }): ValueType {
    const { case: name = '', value } = constant
    const kind = CONSTANTS.get(name)
    if (kind === undefined) throw this.#error(expr, 'is not supported')
    if (kind === 'double' && !Number.isFinite(value))
      throw this.#error(expr, 'the number is too large')
    const [least, most] = kind === 'uint' ? [0n, MAX_UINT] : [-MAX_INT - 1n, MAX_INT]
    if (kind === 'int' || kind === 'uint')
      if (typeof value !== 'bigint' || value > most || value < least)
        throw this.#error(expr, 'the integer exceeds 64 bits')
    return kind
  }

  #name(expr: Expr, name: string, { bound }: Place): ValueType {
    const kind = bound.get(name)
    if (kind !== undefined) return kind
    if (Object.hasOwn(this.#variables, name)) return this.#variables[name] ?? 'unknown'
    if (TYPE_NAMES.has(name)) return 'type'
    const known = Object.keys(this.#variables).filter((one) => one !== AMOUNT_RECORD)
    const unknown = name === AMOUNT_RECORD ? AMOUNT : name
    throw this.#error(
      expr,
      `there is no variable ${unknown}; the variables are ${known.join(', ')}`,
    )
  }

  #call(expr: Expr, call: Call, place: Place): ValueType {
    const { target, function: name, args } = call
    if (target === undefined) return this.#global(expr, name, args, place)
    const space = target.exprKind.case === 'identExpr' ? target.exprKind.value.name : null
    if (space !== null && GLOBAL_FUNCTIONS.has(`${space}.${name}`))
      return this.#global(expr, `${space}.${name}`, args, place)
    const signature = METHODS.get(name)
    if (!signature) throw this.#error(expr, `there is no method ${name}`)
    this.kindOf(target, place)
    this.#arguments(expr, name, signature.arity, args, place)
    if (name === 'matches') this.#regex(args[0])
    return signature.gives
  }

  #global(expr: Expr, name: string, args: Expr[], place: Place): ValueType {
    const signature = GLOBAL_FUNCTIONS.get(name)
    if (signature) {
      this.#arguments(expr, name, signature.arity, args, place)
      return signature.gives
    }
    const kinds = args.map((arg) => this.kindOf(arg, place))
    const [a = 'unknown', b = 'unknown', c = 'unknown'] = kinds
    if (LOGIC.has(name)) {
      const wrong = kinds.findIndex((kind) => !mayBeBool(kind))
      if (wrong !== -1)
        throw this.#error(
          args[wrong] ?? expr,
          `is ${named(kinds[wrong] ?? a)}; true or false is required`,
        )
      return 'bool'
    }
    if (ORDERS.has(name) || EQUALITIES.has(name)) {
      if (!isComparable(a, b))
        throw this.#error(expr, `compares ${named(a)} with ${named(b)}, which is never true`)
      return 'bool'
    }
    if (ARITHMETIC.has(name)) return this.#arithmetic(expr, name, a, b, args)
    switch (name) {
      case '@in':
      case '@not_strictly_false':
        return 'bool'
      case '_[_]':
        return a === 'json' || a === 'record' ? 'json' : 'unknown'
      case '_?_:_':
        if (!mayBeBool(a)) throw this.#error(expr, `tests ${named(a)}; true or false is required`)
        return either(b, c)
      case '-_':
        if (!isNumber(a) && a !== 'json' && a !== 'unknown' && a !== 'duration')
          throw this.#error(expr, `${named(a)} cannot be negated`)
        return a === 'json' ? 'double' : a
      default:
        throw this.#error(expr, `there is no function ${name}`)
    }
  }

  #arguments(
    expr: Expr,
    name: string,
    arity: readonly number[],
    args: readonly Expr[],
    place: Place,
  ): void {
    if (!arity.includes(args.length))
      throw this.#error(expr, `${name} takes ${arity.join(' or ')} arguments, not ${args.length}`)
    for (const arg of args) this.kindOf(arg, place)
  }

  /** Numbers of a request are doubles, and CEL has no arithmetic of doubles with integers. */
  #arithmetic(
    expr: Expr,
    name: string,
    a: ValueType,
    b: ValueType,
    args: readonly Expr[],
  ): ValueType {
    const operator = name.slice(1, -1)
    if (operator === '%' && [a, b].some((kind) => kind === 'json' || kind === 'double'))
      throw this.#error(expr, '% requires integers: convert a number of the request with int(…)')
    for (const [kind, other, arg] of [
      [a, b, args[0]],
      [b, a, args[1]],
    ] as const) {
      if ((kind === 'int' || kind === 'uint') && (other === 'json' || other === 'double'))
        throw this.#error(arg ?? expr, wholeNumber(operator, arg))
    }
    if (a === b && (isNumber(a) || a === 'string' || a === 'list' || a === 'bytes')) return a
    const times = new Set([a, b])
    if (times.has('timestamp') || times.has('duration')) return timeArithmetic(operator, a, b)
    if (times.has('json') && times.has('double')) return 'double'
    if (!isComparable(a, b))
      throw this.#error(expr, `${named(a)} ${operator} ${named(b)} is not defined`)
    return 'unknown'
  }

  #regex(pattern: Expr | undefined): void {
    const constant = pattern?.exprKind.case === 'constExpr' ? pattern.exprKind.value : undefined
    if (pattern === undefined || constant?.constantKind.case !== 'stringValue')
      throw this.#error(pattern ?? this.#syntax.expr, 'the pattern of matches must be a literal')
    try {
      patternOf(constant.constantKind.value)
    } catch (error) {
      throw this.#error(pattern, error instanceof Error ? error.message : String(error))
    }
  }

  #fold(expr: Expr, fold: Fold, place: Place): ValueType {
    const { iterVar, accuVar, iterRange, accuInit, loopCondition, loopStep, result } = fold
    if (place.inLoop) throw this.#error(expr, 'loops inside a loop are not allowed')
    const loopsOver = place.loopsOver + 1
    if (loopsOver > MAX_LOOPS_IN_A_ROW)
      throw this.#error(expr, `more than ${MAX_LOOPS_IN_A_ROW} loops are chained`)
    if (Object.hasOwn(this.#variables, iterVar) || TYPE_NAMES.has(iterVar))
      throw this.#error(expr, `the name ${iterVar} is already used`)
    const range = iterRange ? this.kindOf(iterRange, { ...place, loopsOver }) : 'unknown'
    const start = accuInit ? this.kindOf(accuInit, place) : 'unknown'
    const element = range === 'record' ? 'string' : range === 'json' ? 'json' : 'unknown'
    const bound = new Map<string, ValueType>([...place.bound, [iterVar, element], [accuVar, start]])
    const loop = { ...place, bound, inLoop: true }
    for (const part of [loopCondition, loopStep]) if (part) this.kindOf(part, loop)
    return result ? this.kindOf(result, { ...loop, inLoop: place.inLoop }) : 'unknown'
  }

  #error(expr: Expr, message: string): ConditionError {
    return this.#syntax.errorAt(expr.id, message)
  }
}

function wholeNumber(operator: string, arg: Expr | undefined): string {
  const literal = arg?.exprKind.case === 'constExpr' ? arg.exprKind.value.constantKind : undefined
  const better =
    literal?.case === 'int64Value' || literal?.case === 'uint64Value'
      ? `write ${literal.value}.0`
      : 'convert it with double(…)'
  return `${operator} cannot combine an integer with a number of the request: ${better}`
}
