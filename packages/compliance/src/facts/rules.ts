import { foldName } from '@remit/contract/values'
import type { Plan } from '@remit/contract'
import { isKindInPlan, metric, ratioOf, isAtMostPercent } from './meter.ts'
import type { CreateMeter, CheckOutcome } from './meter.ts'
import type { CheckEntries } from './outcome.ts'
import { DAY, HOUR, Cases } from './facts.ts'
import { deniesByDefault } from './state/state.ts'
import type { FactState } from './state/state.ts'
import type { RecordedObject } from './state/reducer.ts'
import { isInForce, approvalOf } from './state/rules.ts'
import type { RuleState, InForce } from './state/rules.ts'
import { isNamed, namesOf, voteIn, VOTING } from './approvers.ts'
import { authorOf } from './changes.ts'
import type { FactEntry } from './entry.ts'
import { DECIDED } from './entry.ts'

/** UTC days with decisions, and those with a decision without a rule in force. */
class Days {
  readonly without: CheckEntries
  #day = Number.NaN
  #isCounted = false
  #last = 0
  days = 0
  bare = 0

  constructor(without: CheckEntries) {
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

  outcome(isInPlan: boolean, fixes: Iterable<RecordedObject>): CheckOutcome {
    const value = { days: this.bare }
    return this.without.outcome({
      population: isInPlan ? this.days : 0,
      value,
      params: value,
      fixedBy: this.#fixedBy(fixes),
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
          metric(
            'M39',
            {
              policies,
              deny_rules: denies,
              approval_rules: approvalRules,
              default_effect: deniesByDefault(state.organization) ? 'deny' : 'allow',
              decisions_with_a_rule: ratioOf(governed, decisions),
            },
            decisions,
          ),
        ],
        checks: [
          gated.outcome(isKindInPlan('approval_rules', plan), gates),
          restricted.outcome(isKindInPlan('policy_rules', plan), [
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

// For requests pending longer before the period, only the approval rules are known.
const LOOK_BACK = 31 * DAY

const POLICY_CHANGES = ['policy.created', 'policy.updated', 'policy.deleted']

/** The rule that an entry changes; null if none. */
const ruleOf = (entry: FactEntry): string | null =>
  (entry.kind.startsWith('approval_rule.')
    ? entry.read('approval_rule.set').approval_rule?.id
    : entry.read('policy.updated').policy?.id) ?? null

/**
 * M38: approvals by the author of a recent change to a rule that matched the request: an approval
 * rule, or a policy that allowed it. A principal is a person or a key.
 */
export const authorsMeter: CreateMeter = ({ question: { from, thresholds }, seqsOf }) => {
  const within = thresholds.author_hours * HOUR
  const against = seqsOf('CHG-3')
  /** The last change of each rule by each principal. */
  const changed = new Map<string, Map<string, number>>()
  /** Policies that matched open approval requests, by request. */
  const policies = new Map<string, readonly string[]>()
  let changes = 0
  let votes = 0
  const named = new Cases()

  function change(entry: FactEntry, state: FactState): void {
    const rule = ruleOf(entry)
    if (rule === null) return
    changes += 1
    const by = authorOf(entry, state) ?? entry.actor?.id
    if (by === undefined) return
    const ofRule = changed.get(rule) ?? new Map<string, number>()
    changed.set(rule, ofRule.set(foldName(by), entry.time))
  }

  function vote(entry: FactEntry, state: FactState): void {
    const given = voteIn(entry)
    const approval = approvalOf(entry)
    if (!given || !approval) return
    votes += 1
    if (isNamed(given)) named.add(entry.time)
    if (given.decision !== 'approve') return
    const names = [...namesOf(given, state)]
    const rules = [...approval.rules, ...(policies.get(approval.id) ?? [])]
    const isAuthor = rules.some((rule) =>
      names.some((name) => {
        const at = changed.get(rule)?.get(name)
        return at !== undefined && entry.time - at <= within
      }),
    )
    if (isAuthor) against.add(entry.seq)
  }

  /** Records the matches of a decision for the request that it opened or joined. */
  function note({ decision, decided }: FactEntry): void {
    if (decision !== 'needs_approval' || !decided?.approval) return
    const matched = decided.matched.filter(({ kind }) => kind === 'policy')
    if (matched.length > 0)
      policies.set(
        decided.approval.id,
        matched.map(({ id }) => id),
      )
  }

  return {
    reads: [DECIDED, ...POLICY_CHANGES, 'approval_rule.*', 'approval.*'],
    since: (kind) => (kind === DECIDED ? from - LOOK_BACK : -Infinity),
    entry(entry, state, inPeriod) {
      const { kind, time } = entry
      if (kind === DECIDED) note(entry)
      else if (VOTING.some((one) => one === kind)) {
        if (inPeriod) vote(entry, state)
        if (kind === 'approval.decided') policies.delete(approvalOf(entry)?.id ?? '')
      } else if (kind === 'approval.expired' || kind === 'approval.cancelled')
        policies.delete(approvalOf(entry)?.id ?? '')
      else if (!kind.startsWith('approval.') && time >= from - within) change(entry, state)
    },
    end: () => ({
      metrics: [metric('M38', against.count, votes)],
      checks: [against.outcome({ population: changes > 0 ? votes : 0, cases: named })],
    }),
  }
}

const NONE: InForce = { policies: 0, denies: 0, approvalRules: 0 }

/**
 * Returns whether policies and approval rules were evaluated for a decision. The entry records the
 * plan of the decision: that of the organization, or a lower one of the license. Below enterprise,
 * both are kept but not evaluated. Without a recorded plan they count as evaluated.
 */
const areRulesEvaluated = ({ decided }: Pick<FactEntry, 'decided'>): boolean => {
  const plan = decided?.plan ?? null
  return plan === null || isKindInPlan('policy_rules', plan as Plan)
}

/** The rules that applied to a decision. */
export const inForceFor = (entry: FactEntry, state: FactState): InForce =>
  areRulesEvaluated(entry) ? state.inForce.at(entry.time) : NONE

/** M37: policies created or replaced without a preview of a rule shortly before. */
export const previewsMeter: CreateMeter = ({ question: { from, thresholds }, seqsOf }) => {
  const within = thresholds.preview_hours * HOUR
  const percent = thresholds.unpreviewed_percent
  const blind = seqsOf('CHG-2')
  let previewedAt = Number.NEGATIVE_INFINITY
  let created = 0
  return {
    reads: ['policy.dry_run', 'policy.created', 'policy.updated'],
    since: from - within,
    entry({ kind, seq, time, erased }, _state, inPeriod) {
      if (kind === 'policy.dry_run') {
        previewedAt = time
        return
      }
      if (!inPeriod || erased) return
      created += 1
      if (time - previewedAt > within) blind.add(seq)
    },
    end() {
      const { count } = blind
      const share = ratioOf(count, created)
      return {
        metrics: [metric('M37', share, created)],
        checks: [
          blind.outcome({
            population: created,
            value: share,
            threshold: `at most ${percent}% of new policies without a preview`,
            fails: !isAtMostPercent(count, created, percent),
          }),
        ],
      }
    },
  }
}
