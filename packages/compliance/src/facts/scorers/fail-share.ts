import type { FactEntry } from '../entry.ts'
import type { CreateMeter, CheckFailure } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { difference, isAtMostPercent, percentText, ratioOf } from '../ratio.ts'
import { numberIn, textIn } from '../recorded-json.ts'
import { LowestSeqs } from '../seqs.ts'
import { isRelaxed } from '../thresholds.ts'

interface Counted {
  scored: number
  failed: number
  /** Runs with failed items. */
  readonly seqs: number[]
  /** The first run within the limit after the last one beyond it. */
  mendedBy: number | null
}

/** Failed items; computed from the share for runs recorded without the number. */
function failedIn(data: FactEntry['data'], scored: number): number {
  const failed = numberIn(data, 'failed')
  if (failed !== null) return failed
  const passRate = numberIn(data, 'pass_rate')
  return passRate === null ? 0 : Math.round(scored * (1 - passRate))
}

/**
 * M48: the share of failed items by scorer, in the period and in the previous period of equal
 * length.
 */
export const failShareMeter: CreateMeter = ({ question, seqsOf }) => {
  const { from, to, thresholds } = question
  const percent = thresholds.scorer_fail_percent
  const all = seqsOf('SCR-2')
  const now = new Map<string, Counted>()
  const before = new Map<string, Counted>()

  return {
    reads: ['scorer.ran'],
    since: from - (to - from),
    entry({ seq, data, erased }, _state, inPeriod) {
      const scorer = textIn(data, 'scorer')
      const scored = numberIn(data, 'scored') ?? 0
      if (erased || scorer === null || scored === 0) return
      const counts = inPeriod ? now : before
      const known = counts.get(scorer) ?? { scored: 0, failed: 0, seqs: [], mendedBy: null }
      const failed = failedIn(data, scored)
      known.scored += scored
      known.failed += failed
      if (failed > 0) known.seqs.push(seq)
      if (isAtMostPercent(failed, scored, percent)) known.mendedBy ??= seq
      else known.mendedBy = null
      counts.set(scorer, known)
    },
    end() {
      const names = [...new Set([...now.keys(), ...before.keys()])].toSorted()
      const shareOf = (counted: Counted | undefined) =>
        counted ? ratioOf(counted.failed, counted.scored) : null
      const shares = names.map((name) => {
        const [share, earlier] = [shareOf(now.get(name)), shareOf(before.get(name))]
        return [name, { share, before: earlier, difference: difference(share, earlier) }] as const
      })
      const failures: CheckFailure[] = []
      for (const [scorer, { scored, failed, seqs, mendedBy }] of now) {
        if (isAtMostPercent(failed, scored, percent)) continue
        const lowest = new LowestSeqs()
        for (const list of [lowest, all]) for (const seq of seqs) list.add(seq)
        failures.push(
          ...failing(
            lowest,
            { scorer, share: percentText(ratioOf(failed, scored)), failed, of: scored },
            mendedBy,
          ),
        )
      }
      const scored = [...now.values()].reduce((sum, one) => sum + one.scored, 0)
      return {
        metrics: [{ id: 'M48', value: Object.fromEntries(shares), population: scored }],
        checks: [
          outcome({
            check: 'SCR-2',
            population: scored,
            value: Object.fromEntries(
              [...now].map(([name, one]) => [name, ratioOf(one.failed, one.scored)]),
            ),
            threshold: `at most ${percent}% of the items of each scorer fail`,
            relaxed: isRelaxed(thresholds, 'scorer_fail_percent'),
            failures: failures.toSorted((a, b) => (scorerOf(a) < scorerOf(b) ? -1 : 1)),
          }),
        ],
      }
    },
  }
}

const scorerOf = ({ params }: CheckFailure): string => String(params['scorer'])
