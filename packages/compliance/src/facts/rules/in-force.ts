import { isKindInPlan } from '../plan.ts'
import type { CreateMeter, CheckOutcome } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { DAY } from '../report-query.ts'
import { ratioOf } from '../ratio.ts'
import type { SeqList } from '../seqs.ts'
import { deniesByDefault } from '../state/organization.ts'
import type { RecordedObject } from '../state/reducer.ts'
import { isInForce } from '../state/rules.ts'
import type { RuleState } from '../state/rules.ts'
import type { FactState } from '../state/state.ts'
import { inForceFor, areRulesEvaluated } from './for-decision.ts'

/** UTC days with decisions, and those with a decision without a rule in force. */
class Days {
  readonly without: SeqList
  #day = Number.NaN
  #isCounted = false
  #last = 0
  days = 0
  bare = 0

  constructor(without: SeqList) {
    this.without = without
  }

  add(seq: number, time: number, isThere: boolean): void {
    const day = Math.floor(time / DAY)
    if (day !== this.#day) {
      this.#day = day
      this.#isCounted = false
      this.days += 1
    }
    if (isThere) return
    this.without.add(seq)
    this.#last = seq
    if (!this.#isCounted) this.bare += 1
    this.#isCounted = true
  }

  /** The first rule after the last decision without one. */
  #fixedBy(fixes: Iterable<RecordedObject>): number | null {
    const later = [...fixes].map(({ changedSeq }) => changedSeq).filter((seq) => seq > this.#last)
    return later.length === 0 ? null : Math.min(...later)
  }

  outcome(check: string, isInPlan: boolean, fixes: Iterable<RecordedObject>): CheckOutcome {
    const { bare } = this
    return outcome({
      check,
      population: isInPlan ? this.days : 0,
      value: { days: bare },
      failures: failing(this.without, { days: bare }, this.#fixedBy(fixes)),
    })
  }
}

/**
 * M39: rules in force at the end, and decisions taken with one. A day is without a rule if one of
 * its decisions is. An organization with the default effect `deny` has the widest deny rule.
 */
export const inForceMeter: CreateMeter = ({ seqsOf, question: { to } }) => {
  const gated = new Days(seqsOf('APR-6'))
  const restricted = new Days(seqsOf('CHG-4'))
  let decisions = 0
  let governed = 0

  return {
    reads: ['authorization.decided'],
    entry(entry, state) {
      const { seq, time } = entry
      const { policies, denies, approvalRules } = inForceFor(entry, state)
      const isPut = areRulesEvaluated(entry)
      decisions += 1
      if (policies + approvalRules > 0) governed += 1
      const isGated = approvalRules > 0 || (isPut && state.lost('approval_rule.set') > 0)
      gated.add(seq, time, isGated)
      restricted.add(seq, time, isGated || denies > 0 || (isPut && isDenying(state)))
    },
    end(state) {
      const plan = state.organization?.plan ?? 'free'
      const { policies, denies, approvalRules } = state.inForce.at(to)
      const gates = [...state.approvalRules.values()].filter((rule) => isInForce(rule, to))
      return {
        metrics: [
          {
            id: 'M39',
            value: {
              policies,
              deny_rules: denies,
              approval_rules: approvalRules,
              default_effect: deniesByDefault(state.organization) ? 'deny' : 'allow',
              decisions_with_a_rule: ratioOf(governed, decisions),
            },
            population: decisions,
          },
        ],
        checks: [
          gated.outcome('APR-6', isKindInPlan('approval_rules', plan), gates),
          restricted.outcome('CHG-4', isKindInPlan('policy_rules', plan), [
            ...gates,
            ...deniesOf(state, to),
          ]),
        ],
      }
    },
  }
}

const deniesOf = ({ policies }: FactState, time: number): RuleState[] =>
  [...policies.values()].filter((rule) => rule.effect === 'deny' && isInForce(rule, time))

/** An erased entry may have been a deny rule. */
const isDenying = (state: FactState): boolean =>
  deniesByDefault(state.organization) || state.lost('policy.created', 'policy.updated') > 0
