import type { CreateMeter, CheckFailure } from '../meter.ts'
import { outcome } from '../outcome.ts'

/**
 * M49: reports from before the end of the period that differ from their record. Later ones belong
 * to later periods.
 */
export const reportsMeter: CreateMeter = ({ question, seqsOf }) => {
  const wrong = seqsOf('REP-1')
  return {
    reads: [],
    entry() {},
    end(_state, { reports }) {
      const recorded = reports.filter(({ time }) => time < question.to)
      const broken = recorded.filter(({ intact }) => !intact)
      for (const { seq } of broken) wrong.add(seq)
      const value = { recorded: recorded.length, not_intact: broken.length }
      return {
        metrics: [{ id: 'M49', value, population: recorded.length }],
        checks: [
          outcome({
            check: 'REP-1',
            population: recorded.length,
            value: { not_intact: broken.length },
            failures: broken.map(({ seq, reportId }): CheckFailure => ({
              params: { report_id: reportId },
              count: 1,
              seqs: [seq],
            })),
          }),
        ],
      }
    },
  }
}
