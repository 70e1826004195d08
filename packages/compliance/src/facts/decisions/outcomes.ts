import { reasonFacts } from '@remit/contract'
import type { DecisionFacts } from '../decision.ts'
import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { ratioOf } from '../ratio.ts'
import { NameCounts } from '../name-counts.ts'

/**
 * Returns whether an entry explains its decision: the reason, the matches if the reason refers to
 * some, and the config version. The version stands for a digest of the rules: every change of rules
 * moves it and is recorded, so it identifies the rules of the decision.
 */
const isExplained = (reason: string | null, { matches, configVersion }: DecisionFacts): boolean =>
  reason !== null &&
  reason !== '' &&
  configVersion !== null &&
  matches !== null &&
  (matches > 0 || reasonFacts(reason)?.needsMatch === false)

/** M10, M11, M12: decisions by outcome and reason, and their explanations. */
export const outcomesMeter: CreateMeter = ({ seqsOf }) => {
  const unexplained = seqsOf('DEC-2')
  const outcomes = new NameCounts()
  const denials = new NameCounts()
  const cases = new Cases()
  let erased = 0
  return {
    reads: ['authorization.decided'],
    entry({ seq, time, decided, decision, reason }) {
      if (!decided) {
        erased += 1
        return
      }
      cases.add(time)
      outcomes.add(decision ?? 'unknown')
      if (decision === 'deny') denials.add(reason ?? 'unknown')
      if (!isExplained(reason, decided)) unexplained.add(seq)
    },
    end() {
      const { total } = outcomes
      const deny = outcomes.of('deny')
      const share = ratioOf(total - unexplained.count, total)
      return {
        metrics: [
          {
            id: 'M10',
            value: {
              allow: outcomes.of('allow'),
              deny,
              needs_approval: outcomes.of('needs_approval'),
              erased,
              denied_share: ratioOf(deny, total),
            },
            population: total + erased,
          },
          { id: 'M11', value: denials.all, population: deny },
          { id: 'M12', value: share, population: total },
        ],
        checks: [
          outcome({
            check: 'DEC-2',
            population: total,
            cases,
            value: share,
            failures: failing(unexplained),
          }),
        ],
      }
    },
  }
}
