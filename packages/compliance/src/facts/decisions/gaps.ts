import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'

/** M51: calls that ran without an allow, as their hosts reported. */
export const gapsMeter: CreateMeter = ({ seqsOf }) => {
  const gaps = seqsOf('DEC-6')
  let allows = 0
  return {
    reads: ['authorization.decided', 'enforcement.gap'],
    entry({ kind, seq, decision }) {
      if (kind === 'enforcement.gap') gaps.add(seq)
      else if (decision === 'allow') allows += 1
    },
    end() {
      const { count } = gaps
      return {
        metrics: [{ id: 'M51', value: { count }, population: allows + count }],
        checks: [
          outcome({
            check: 'DEC-6',
            population: allows + count,
            value: { count },
            failures: failing(gaps),
          }),
        ],
      }
    },
  }
}
