import type { Expr } from './syntax.ts'

type Comparison = { readonly name: string; readonly operator: string }

/** Collects the members of `context` that a condition reads, while it is checked. */
export class ContextReads {
  readonly #members = new Set<string>()
  readonly #guarded = new Set<string>()
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
      if (member.tested) this.#guarded.add(member.name)
      this.#handled.add(member.context)
    }
    if (expr.exprKind.case === 'callExpr') this.#seeCall(expr.exprKind.value)
    if (expr.exprKind.case === 'identExpr') {
      const { name } = expr.exprKind.value
      if (!isBound(name)) this.#names++
      if (name === 'context') this.#whole = true
    }
    if (member) this.#names++
  }

  /** The top-level members of `context` that the result depends on, or `all`. */
  get members(): ReadonlySet<string> | 'all' {
    return this.#whole ? 'all' : this.#members
  }

  /** Members read without `has(…)` or `in`: a request without them causes an error. */
  get unguarded(): string[] {
    return [...this.#members].filter((name) => !this.#guarded.has(name))
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
      this.#guarded.add(textOf(left) ?? '')
      this.#handled.add(right.id)
      this.#names++
    }
    const operator = isNumeric(right) ? name : MIRRORED[name]
    const member = memberOf(isNumeric(right) ? left : right)
    if (member && operator !== undefined && (isNumeric(left) || isNumeric(right)))
      this.#compared.push({ name: member.name, operator })
  }
}

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

function textOf({ exprKind }: Expr): string | null {
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind : undefined
  return constant?.case === 'stringValue' ? constant.value : null
}

function isNumeric({ exprKind }: Expr): boolean {
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind.case : undefined
  return constant === 'int64Value' || constant === 'uint64Value' || constant === 'doubleValue'
}

/** `context.name`, `has(context.name)` or `context["name"]`. */
function memberOf({
  exprKind,
}: Expr): { readonly name: string; readonly tested: boolean; readonly context: bigint } | null {
  if (exprKind.case === 'selectExpr') {
    const { operand, field, testOnly } = exprKind.value
    if (operand && isContext(operand)) return { name: field, tested: testOnly, context: operand.id }
  }
  if (exprKind.case === 'callExpr' && exprKind.value.function === '_[_]') {
    const [of, key] = exprKind.value.args
    const name = key ? textOf(key) : null
    if (of && name !== null && isContext(of)) return { name, tested: false, context: of.id }
  }
  return null
}
