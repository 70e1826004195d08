import { matchesAll } from '@remit/contract/patterns'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { ratioOf } from '../ratio.ts'
import { isInForce } from '../state/rules.ts'
import type { RuleState } from '../state/rules.ts'

/** Returns whether a list of selectors matches every agent. */
const isEveryone = (selectors: unknown): boolean =>
  Array.isArray(selectors) &&
  selectors.some((one: unknown) => typeof one === 'string' && matchesAll(one))

const isWild = ({ object }: RuleState): boolean =>
  isEveryone(object['source_agents']) && isEveryone(object['target_agents'])

/** Earlier versions recorded `no_policy`. */
const BY_DEFAULT: ReadonlySet<string> = new Set(['default_deny', 'no_policy'])

/** M43: trust evaluations between agents, and rules that allow every agent to reach every agent. */
export const trustMeter: CreateMeter = ({ question, seqsOf }) => {
  const wide = seqsOf('TRU-1')
  const byDecision = { allow: 0, deny: 0 }
  let byDefault = 0
  return {
    reads: ['trust.evaluated'],
    entry({ decision, reason }) {
      if (decision === 'allow') byDecision.allow += 1
      else if (decision === 'deny') byDecision.deny += 1
      else return
      if (decision === 'deny' && BY_DEFAULT.has(reason ?? '')) byDefault += 1
    },
    end({ trustPolicies }) {
      const rules = [...trustPolicies.values()].filter((rule) => isInForce(rule, question.to))
      const wild = rules.filter(isWild)
      for (const { effect, changedSeq } of wild) if (effect === 'allow') wide.add(changedSeq)
      const all = byDecision.allow + byDecision.deny
      return {
        metrics: [
          {
            id: 'M43',
            value: {
              ...byDecision,
              denied_by_default: ratioOf(byDefault, all),
              rules: rules.length,
              wildcard_rules: wild.length,
            },
            population: all,
          },
        ],
        checks: [
          outcome({
            check: 'TRU-1',
            population: rules.length,
            value: { count: wide.count },
            failures: failing(wide),
          }),
        ],
      }
    },
  }
}
