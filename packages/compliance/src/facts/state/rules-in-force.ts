import { isInForce } from './rules.ts'
import type { RuleState } from './rules.ts'

interface Rules {
  readonly policies: ReadonlyMap<string, RuleState>
  readonly approvalRules: ReadonlyMap<string, RuleState>
  readonly rulesVersion: number
  lost(...kinds: readonly string[]): number
}

export interface InForce {
  readonly policies: number
  /** The number of deny policies. */
  readonly denies: number
  readonly approvalRules: number
}

/** Counts the rules in force, cached until a rule changes or a window opens or closes. */
export class RulesInForce {
  readonly #rules: Rules
  #version = -1
  #from = 0
  #until = 0
  #counts: InForce = { policies: 0, denies: 0, approvalRules: 0 }

  constructor(rules: Rules) {
    this.#rules = rules
  }

  at(time: number): InForce {
    const { rulesVersion } = this.#rules
    if (rulesVersion !== this.#version || time >= this.#until || time < this.#from) {
      this.#version = rulesVersion
      this.#count(time)
    }
    return this.#counts
  }

  #count(time: number): void {
    const policies = [...this.#rules.policies.values()]
    const approvals = [...this.#rules.approvalRules.values()]
    this.#from = time
    this.#until = Number.POSITIVE_INFINITY
    for (const { notBefore, expiresAt } of policies)
      for (const edge of [notBefore, expiresAt])
        if (edge !== null && time < edge && edge < this.#until) this.#until = edge
    const live = policies.filter((rule) => isInForce(rule, time))
    // Each erased deletion removed one of these rules.
    const gone = this.#rules.lost('policy.deleted')
    const count = (rules: readonly RuleState[], less: number) => Math.max(0, rules.length - less)
    this.#counts = {
      policies: count(live, gone),
      denies: count(
        live.filter(({ effect }) => effect === 'deny'),
        gone,
      ),
      approvalRules: count(
        approvals.filter((rule) => isInForce(rule, time)),
        this.#rules.lost('approval_rule.removed'),
      ),
    }
  }
}
