import { foldName } from '@remit/contract/values'
import { isNamed, namesOf, voteIn, VOTING } from '../approvals/votes.ts'
import { authorOf } from '../changes/administrative.ts'
import type { FactEntry } from '../entry.ts'
import { DECIDED } from '../lazy-entry.ts'
import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { DAY, HOUR } from '../report-query.ts'
import { recordIn, textIn } from '../recorded-json.ts'
import { approvalOf } from '../state/approvals.ts'
import type { FactState } from '../state/state.ts'
import { isRelaxed } from '../thresholds.ts'

// For requests pending longer before the period, only the approval rules are known.
const LOOK_BACK = 31 * DAY

const POLICY_CHANGES = ['policy.created', 'policy.updated', 'policy.deleted']

/** The rule that an entry changes; null if none. */
function ruleOf({ kind, data }: FactEntry): string | null {
  const member = kind.startsWith('approval_rule.') ? 'approval_rule' : 'policy'
  return textIn(recordIn(data, member) ?? {}, 'id')
}

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
    end() {
      return {
        metrics: [{ id: 'M38', value: against.count, population: votes }],
        checks: [
          outcome({
            check: 'CHG-3',
            population: changes > 0 ? votes : 0,
            cases: named,
            value: { count: against.count },
            relaxed: isRelaxed(thresholds, 'author_hours'),
            failures: failing(against),
          }),
        ],
      }
    },
  }
}
