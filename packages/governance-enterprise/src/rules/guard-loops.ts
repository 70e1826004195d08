import { ELEMENTS, TICK } from './cel-functions.ts'
import type { Expr } from './syntax.ts'

/**
 * Limits every loop of a tree in place: to 1,000 elements, and to the time of the decision. The
 * text determines the loop, but the request its length.
 */
export function guardLoops(expr: Expr | undefined): void {
  switch (expr?.exprKind.case) {
    case 'selectExpr':
      return guardLoops(expr.exprKind.value.operand)
    case 'callExpr':
      guardLoops(expr.exprKind.value.target)
      return expr.exprKind.value.args.forEach(guardLoops)
    case 'listExpr':
      return expr.exprKind.value.elements.forEach(guardLoops)
    case 'structExpr':
      return expr.exprKind.value.entries.forEach(({ keyKind, value }) => {
        if (keyKind.case === 'mapKey') guardLoops(keyKind.value)
        guardLoops(value)
      })
    case 'comprehensionExpr': {
      const loop = expr.exprKind.value
      const { iterRange, accuInit, loopCondition, loopStep, result } = loop
      for (const part of [iterRange, accuInit, loopCondition, loopStep, result]) guardLoops(part)
      if (iterRange) loop.iterRange = call(expr.id, ELEMENTS, [iterRange])
      if (loopCondition)
        loop.loopCondition = call(expr.id, '_&&_', [loopCondition, call(expr.id, TICK, [])])
      return
    }
    default:
  }
}

const call = (id: bigint, name: string, args: Expr[]): Expr => ({
  $typeName: 'cel.expr.Expr',
  id,
  exprKind: {
    case: 'callExpr',
    value: { $typeName: 'cel.expr.Expr.Call', function: name, args },
  },
})
