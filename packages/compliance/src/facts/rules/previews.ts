import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { HOUR } from '../report-query.ts'
import { isAtMostPercent, ratioOf } from '../ratio.ts'
import { isRelaxed } from '../thresholds.ts'

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
        metrics: [{ id: 'M37', value: share, population: created }],
        checks: [
          outcome({
            check: 'CHG-2',
            population: created,
            value: share,
            threshold: `at most ${percent}% of new policies without a preview`,
            relaxed: isRelaxed(thresholds, 'unpreviewed_percent', 'preview_hours'),
            failures: isAtMostPercent(count, created, percent) ? [] : failing(blind),
          }),
        ],
      }
    },
  }
}
