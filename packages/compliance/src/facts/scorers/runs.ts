import { daysText } from '../days.ts'
import { Intervals } from '../intervals.ts'
import type { CreateMeter } from '../meter.ts'
import { outcome } from '../outcome.ts'
import { DAY } from '../report-query.ts'
import { numberIn, textIn } from '../recorded-json.ts'
import { isRelaxed } from '../thresholds.ts'

/**
 * M47: scorer runs by outcome, and the longest interval between runs. A run without any scored item
 * does not count.
 */
export const runsMeter: CreateMeter = ({ question, seqsOf }) => {
  const { scorer_interval_days: most } = question.thresholds
  const intervals = new Intervals(question, most * DAY, seqsOf('SCR-1'))
  let runs = 0
  const byScorer = new Map<string, { runs: number; items: number; scored: number }>()
  return {
    reads: ['scorer.ran'],
    entry({ seq, time, data, erased }) {
      const scorer = textIn(data, 'scorer')
      if (erased || scorer === null) return
      const scored = numberIn(data, 'scored') ?? 0
      if (scored > 0) intervals.add(seq, time)
      runs += 1
      const known = byScorer.get(scorer) ?? { runs: 0, items: 0, scored: 0 }
      known.runs += 1
      known.items += numberIn(data, 'count') ?? 0
      known.scored += scored
      byScorer.set(scorer, known)
    },
    end(state) {
      const { longest, count, population, failures } = intervals.end(state)
      return {
        metrics: [
          {
            id: 'M47',
            value: {
              runs,
              by_scorer: Object.fromEntries(byScorer),
              longest_days: daysText(longest),
            },
            population: runs,
          },
        ],
        checks: [
          outcome({
            check: 'SCR-1',
            population,
            basis: count,
            value: { longest_days: daysText(longest) },
            threshold: `longest interval at most ${most} days`,
            relaxed: isRelaxed(question.thresholds, 'scorer_interval_days'),
            failures,
          }),
        ],
      }
    },
  }
}
