import { reasonFacts } from '@remit/contract'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { hasCap } from './amount.ts'

/**
 * M15: decisions without spend data. The reason of a denial shows it. An allow for an agent with a
 * cap contains the figures it was checked against; one without them was given without data.
 */
export const unavailableMeter: CreateMeter = ({ seqsOf }) => {
  const allowed = seqsOf('DEC-5')
  let denied = 0
  return {
    reads: ['authorization.decided'],
    entry({ seq, agent_id: id, decision, decided, reason }, { spendLimits }) {
      if (!decided || id === null) return
      if (decision === 'allow') {
        if (spendLimits.size > 0 && !decided.spend && hasCap(spendLimits.get(id))) allowed.add(seq)
      } else if (reasonFacts(reason)?.spend === 'no_data') denied += 1
    },
    end() {
      const allow = allowed.count
      const value = { allow, deny: denied }
      return {
        metrics: [{ id: 'M15', value, population: allow + denied }],
        checks: [
          outcome({
            check: 'DEC-5',
            population: allow + denied,
            value,
            failures: failing(allowed),
          }),
        ],
      }
    },
  }
}
