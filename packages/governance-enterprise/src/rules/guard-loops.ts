import { ELEMENTS, TICK } from './cel-functions.ts'
import { partsOf } from './syntax.ts'
import type { Expr } from './syntax.ts'

/**
 * Limits every loop of a tree in place: to 1,000 elements, and to the time of the decision. The
 * text determines the loop, but the request its length.
 */
export function guardLoops(expr: Expr): void {
  partsOf(expr).forEach(guardLoops)
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
