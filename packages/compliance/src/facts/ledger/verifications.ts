import { daysText } from '../days.ts'
import { Intervals } from '../intervals.ts'
import type { CreateMeter } from '../meter.ts'
import { outcome } from '../outcome.ts'
import { DAY } from '../report-query.ts'
import { isTrueIn } from '../recorded-json.ts'
import { isRelaxed } from '../thresholds.ts'

/** M09: the longest time without a successful verification of the ledger. */
export const verificationsMeter: CreateMeter = ({ question, seqsOf }) => {
  const { verification_interval_days: most } = question.thresholds
  const intervals = new Intervals(question, most * DAY, seqsOf('LED-6'))
  return {
    reads: ['ledger.verified'],
    entry({ seq, time, data }) {
      if (isTrueIn(data, 'valid')) intervals.add(seq, time)
    },
    end(state) {
      const { longest, count, population, failures } = intervals.end(state)
      return {
        metrics: [
          {
            id: 'M09',
            value: { longest_days: daysText(longest), sound: count },
            population: count,
          },
        ],
        checks: [
          outcome({
            check: 'LED-6',
            population,
            basis: count,
            value: { longest_days: daysText(longest) },
            threshold: `longest interval at most ${most} days`,
            relaxed: isRelaxed(question.thresholds, 'verification_interval_days'),
            failures,
          }),
        ],
      }
    },
  }
}
