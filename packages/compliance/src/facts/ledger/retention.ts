import { OrganizationSettings } from '@remit/contract'
import { daysText } from '../days.ts'
import type { CreateMeter } from '../meter.ts'
import { outcome } from '../outcome.ts'
import { DECIDED } from '../lazy-entry.ts'
import { DAY } from '../report-query.ts'
import { numberIn, timeIn } from '../recorded-json.ts'
import type { FactState } from '../state/state.ts'
import { isRelaxed } from '../thresholds.ts'

/** The default, if no entry sets another. */
const DEFAULT_RETENTION_DAYS = OrganizationSettings.parse({}).retention_days

const settingOf = ({ organization }: FactState): number =>
  (organization && numberIn(organization.settings, 'retention_days')) ?? DEFAULT_RETENTION_DAYS

/** M07: the age of the oldest kept decision, the retention setting, and the age of the youngest pruned entry. */
export const retentionMeter: CreateMeter = ({ question, seqsOf }) => {
  const { to, thresholds } = question
  const least = thresholds.retention_days
  const early = seqsOf('LED-4')
  let kept = 0
  let decisions = 0
  let youngestPruned: number | null = null
  return {
    reads: ['*'],
    since: -Infinity,
    entry(entry, _state, inPeriod) {
      kept += 1
      if (entry.kind === DECIDED && !entry.erased) decisions += 1
      if (entry.kind !== 'ledger.pruned' || !inPeriod) return
      const prunedAt = timeIn(entry.data, 'pruned_at') ?? entry.time
      const cutoff = timeIn(entry.data, 'cutoff')
      // If a pruning does not record its cutoff, assume the worst.
      const age = cutoff === null ? 0 : prunedAt - cutoff
      if (youngestPruned === null || age < youngestPruned) youngestPruned = age
      if (age < least * DAY) early.add(entry.seq)
    },
    end(state, _outside, oldestDecision) {
      const days = settingOf(state)
      const isShort = days < least
      return {
        metrics: [
          {
            id: 'M07',
            value: {
              kept_days: oldestDecision === null ? null : Math.floor((to - oldestDecision) / DAY),
              setting_days: days,
              shortest_pruned_age_days: youngestPruned === null ? null : daysText(youngestPruned),
            },
            population: kept,
          },
        ],
        checks: [
          outcome({
            check: 'LED-4',
            population: kept,
            basis: decisions,
            value: { setting_days: days, early_prunings: early.count },
            threshold: `set to at least ${least} days, nothing younger pruned`,
            relaxed: isRelaxed(thresholds, 'retention_days'),
            failures:
              isShort || early.count > 0
                ? [{ params: { days, early: early.count }, count: early.count, seqs: early.seqs }]
                : [],
          }),
        ],
      }
    },
  }
}
