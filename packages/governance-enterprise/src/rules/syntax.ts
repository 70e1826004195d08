import { parse } from '@bufbuild/cel'
import { ConditionError } from './condition-error.ts'
import { AMOUNT, AMOUNT_RECORD } from './types.ts'

export type Expr = NonNullable<ReturnType<typeof parse>['expr']>

/** The tree of a text, and the position of each node. */
export interface Syntax {
  readonly expr: Expr
  errorAt(id: bigint, message: string): ConditionError
}

const MAX_BYTES = 2 * 1024
const encoder = new TextEncoder()

/** Parses a text of at most 2 KiB; throws `ConditionError`. */
export function parseCondition(text: string): Syntax {
  const bytes = encoder.encode(text).length
  if (bytes > MAX_BYTES)
    throw new ConditionError(`is ${bytes} bytes long; at most ${MAX_BYTES} are allowed`, 1, 1)
  const { expr, sourceInfo } = parsed(text)
  if (!expr) throw new ConditionError('is empty', 1, 1)
  expandTests(expr)
  return {
    expr,
    errorAt(id, message) {
      const offset = sourceInfo?.positions[String(id)] ?? 0
      // The position of an operator includes the preceding blanks.
      const blanks = /^\s*/.exec(text.slice(offset))?.[0].length ?? 0
      return ConditionError.at(message, text, offset + blanks)
    },
  }
}

/** The text of a literal; null for other expressions. */
export function textOf({ exprKind }: Expr): string | null {
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind : undefined
  return constant?.case === 'stringValue' ? constant.value : null
}

export function partsOf({ exprKind }: Expr): Expr[] {
  switch (exprKind.case) {
    case 'selectExpr':
      return present([exprKind.value.operand])
    case 'callExpr':
      return present([exprKind.value.target, ...exprKind.value.args])
    case 'listExpr':
      return exprKind.value.elements
    case 'structExpr':
      return exprKind.value.entries.flatMap(({ keyKind, value }) =>
        present([keyKind.case === 'mapKey' ? keyKind.value : undefined, value]),
      )
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value
      return present([iterRange, accuInit, loopCondition, loopStep, result])
    }
    default:
      return []
  }
}

const present = (parts: readonly (Expr | undefined)[]): Expr[] =>
  parts.filter((part) => part !== undefined)

/**
 * Makes `has(amount_usd)` a test of a member, in place. CEL tests members only, and the amount is a
 * variable that a request may lack.
 */
function expandTests(expr: Expr): void {
  partsOf(expr).forEach(expandTests)
  if (expr.exprKind.case !== 'callExpr' || expr.exprKind.value.function !== 'has') return
  const { target, args } = expr.exprKind.value
  const [tested] = args
  if (target || args.length !== 1 || tested?.exprKind.case !== 'identExpr') return
  if (tested.exprKind.value.name !== AMOUNT) return
  tested.exprKind.value.name = AMOUNT_RECORD
  const $typeName = 'cel.expr.Expr.Select'
  const value = { $typeName, operand: tested, field: AMOUNT, testOnly: true } as const
  expr.exprKind = { case: 'selectExpr', value }
}

function parsed(text: string): ReturnType<typeof parse> {
  try {
    return parse(text)
  } catch (error) {
    // The parser recurses with every parenthesis and relies on the engine's limit.
    if (error instanceof RangeError) throw new ConditionError('is nested too deeply', 1, 1)
    throw located(error, text)
  }
}

interface ParserError {
  readonly rawMessage?: string
  readonly location?: { readonly start: { readonly offset: number } }
}

function located(error: unknown, text: string): ConditionError {
  const { rawMessage, location } = error as ParserError
  const message = rawMessage ?? (error instanceof Error ? error.message : 'cannot be parsed')
  return ConditionError.at(message, text, location?.start.offset ?? 0)
}
