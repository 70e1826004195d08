import { ELEMENTS, MAP, TICK } from './cel-functions.ts'
import { partsOf } from './syntax.ts'
import type { Expr } from './syntax.ts'

/**
 * Limits every loop of a tree in place: to 1,000 elements, and to the time of the decision. The
 * text determines the loop, but the request its length. `has()` on what is no map becomes an error, as CEL
 * defines it; it is false for the library.
 */
export function guardCalls(expr: Expr): void {
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
