import { isKindInPlan } from '../plan.ts'
import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { isAtMostPercent, percentText, ratioOf } from '../ratio.ts'
import { isRelaxed } from '../thresholds.ts'

/** M14: allows without a matching rule or grant. */
export const governedMeter: CreateMeter = ({ question: { thresholds }, seqsOf }) => {
  const ungoverned = seqsOf('DEC-4')
  const percent = thresholds.ungoverned_percent
  const cases = new Cases()
  return {
    reads: ['authorization.decided'],
    entry({ seq, time, decision, decided }) {
      if (decision !== 'allow' || !decided) return
      cases.add(time)
      if (!decided.isGoverned) ungoverned.add(seq)
    },
    end({ organization }) {
      const { count } = ungoverned
      const allows = cases.count
      const share = ratioOf(count, allows)
      const isInPlan = isKindInPlan('policy_rules', organization?.plan ?? 'free')
      return {
        metrics: [{ id: 'M14', value: share, population: allows }],
        checks: [
          outcome({
            check: 'DEC-4',
            population: isInPlan ? allows : 0,
            cases,
            value: share,
            threshold: `at most ${percent}% of allows`,
            relaxed: isRelaxed(thresholds, 'ungoverned_percent'),
            failures: isAtMostPercent(count, allows, percent)
              ? []
              : failing(ungoverned, { share: percentText(share), n: count, of: allows }),
          }),
        ],
      }
    },
  }
}
