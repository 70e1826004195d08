import type { Expr } from './syntax.ts'
import { textOf } from './syntax.ts'
import { AMOUNT, AMOUNT_RECORD } from './types.ts'

type Comparison = { readonly name: string; readonly operator: string }

/** Collects the members of `context` that a condition reads, while it is checked. */
export class ContextReads {
  readonly #members = new Set<string>()
  /** The members behind the variables that it reads. */
  readonly #behind = new Set<string>()
  readonly #compared: Comparison[] = []
  /** The whole `context`: every member may matter. */
  #whole = false
  #names = 0
  readonly #handled = new Set<bigint>()

  /** Called for every expression, outer before inner. */
  see(expr: Expr, isBound: (name: string) => boolean): void {
    if (this.#handled.has(expr.id)) return
    const member = memberOf(expr)
    if (member) {
      this.#members.add(member.name)
      this.#handled.add(member.context)
    }
    if (expr.exprKind.case === 'callExpr') this.#seeCall(expr.exprKind.value)
    if (expr.exprKind.case === 'identExpr') {
      const { name } = expr.exprKind.value
      if (!isBound(name)) this.#names++
      if (name === 'context') this.#whole = true
      if (name === AMOUNT || name === AMOUNT_RECORD)
        for (const one of AMOUNT_MEMBERS) this.#behind.add(one)
    }
    if (member) this.#names++
  }

  /** The top-level members of `context` that the result depends on, or `all`. */
  get members(): ReadonlySet<string> | 'all' {
    return this.#whole ? 'all' : new Set([...this.#members, ...this.#behind])
  }

  /** The one of the two spellings of an amount that it reads; null if it reads none, or both. */
  get spelling(): string | null {
    const [one, other] = SPELLINGS.filter((name) => this.#members.has(name))
    return one !== undefined && other === undefined ? one : null
  }

  /** Amounts with an upper but no lower bound, which negative amounts satisfy. */
  get openBelow(): string[] {
    const bounded = (operators: readonly string[]) =>
      new Set(
        this.#compared
          .filter(({ operator }) => operators.includes(operator))
          .map(({ name }) => name),
      )
    const below = bounded(['_>_', '_>=_', '_==_'])
    return [...bounded(['_<_', '_<=_'])].filter((name) => isAmount(name) && !below.has(name))
  }

  /** True if the condition reads nothing of a request. */
  get isConstant(): boolean {
    return this.#names === 0
  }

  #seeCall({ function: name, args }: { function: string; args: readonly Expr[] }): void {
    const [left, right] = args
    if (!left || !right) return
    if (name === '@in' && isContext(right) && textOf(left) !== null) {
      this.#members.add(textOf(left) ?? '')
      this.#handled.add(right.id)
      this.#names++
    }
    const operator = isNumeric(right) ? name : MIRRORED[name]
    const member = memberOf(isNumeric(right) ? left : right)
    if (member && operator !== undefined && (isNumeric(left) || isNumeric(right)))
      this.#compared.push({ name: member.name, operator })
  }
}

const SPELLINGS = [AMOUNT, 'amount']
/** The members that the amount of a request depends on. */
const AMOUNT_MEMBERS = [...SPELLINGS, 'currency']

const MIRRORED: Readonly<Record<string, string>> = {
  '_<_': '_>_',
  '_<=_': '_>=_',
  '_>_': '_<_',
  '_>=_': '_<=_',
  '_==_': '_==_',
}

const isAmount = (name: string): boolean => /(?:^|_)(?:amount|cost|price|total)(?:_|$)/.test(name)

const isContext = ({ exprKind }: Expr): boolean =>
  exprKind.case === 'identExpr' && exprKind.value.name === 'context'

function isNumeric({ exprKind }: Expr): boolean {
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind.case : undefined
  return constant === 'int64Value' || constant === 'uint64Value' || constant === 'doubleValue'
}

/** `context.name`, `has(context.name)` or `context["name"]`. */
function memberOf({ exprKind }: Expr): { readonly name: string; readonly context: bigint } | null {
  if (exprKind.case === 'selectExpr') {
    const { operand, field } = exprKind.value
    if (operand && isContext(operand)) return { name: field, context: operand.id }
  }
  if (exprKind.case === 'callExpr' && exprKind.value.function === '_[_]') {
    const [of, key] = exprKind.value.args
    const name = key ? textOf(key) : null
    if (of && name !== null && isContext(of)) return { name, context: of.id }
  }
  return null
}
