import { Intervals } from './intervals.ts'
import type { CreateMeter, CheckFailure } from './meter.ts'
import { failing } from './outcome.ts'
import type { EntryReading } from '@remit/contract/entries'
import { difference, isAtMostPercent, metric, percentText, ratioOf } from './meter.ts'
import { LowestSeqs } from './seqs.ts'

/**
 * M47: scorer runs by outcome, and the longest interval between runs. A run without any scored item
 * does not count.
 */
export const runsMeter: CreateMeter = ({ question, seqsOf }) => {
  const most = question.thresholds.scorer_interval_days
  const intervals = new Intervals(question, most, seqsOf('SCR-1'))
  let runs = 0
  const byScorer = new Map<string, { runs: number; items: number; scored: number }>()
  return {
    reads: ['scorer.ran'],
    entry(entry) {
      const { seq, time } = entry
      const { scorer, scored: counted, count } = entry.read('scorer.ran')
      if (scorer === null) return
      const scored = counted ?? 0
      if (scored > 0) intervals.add(seq, time)
      runs += 1
      const known = byScorer.get(scorer) ?? { runs: 0, items: 0, scored: 0 }
      known.runs += 1
      known.items += count ?? 0
      known.scored += scored
      byScorer.set(scorer, known)
    },
    end(state) {
      const { value, check } = intervals.end(state)
      return {
        metrics: [metric('M47', { runs, by_scorer: Object.fromEntries(byScorer), ...value }, runs)],
        checks: [check],
      }
    },
  }
}

interface Counted {
  scored: number
  failed: number
  /** Runs with failed items. */
  readonly seqs: number[]
  /** The first run within the limit after the last one beyond it. */
  mendedBy: number | null
}

/** Failed items; computed from the share for runs recorded without the number. */
function failedIn(
  { failed, pass_rate: passRate }: EntryReading<'scorer.ran'>,
  scored: number,
): number {
  if (failed !== null) return failed
  const isShare = passRate !== null && passRate >= 0 && passRate <= 1
  return isShare ? Math.round(scored * (1 - passRate)) : 0
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
    entry(entry, _state, inPeriod) {
      const data = entry.read('scorer.ran')
      const { scorer } = data
      const scored = data.scored ?? 0
      if (scorer === null || scored === 0) return
      const counts = inPeriod ? now : before
      const known = counts.get(scorer) ?? { scored: 0, failed: 0, seqs: [], mendedBy: null }
      const failed = failedIn(data, scored)
      known.scored += scored
      known.failed += failed
      if (failed > 0) known.seqs.push(entry.seq)
      if (isAtMostPercent(failed, scored, percent)) known.mendedBy ??= entry.seq
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
        metrics: [metric('M48', Object.fromEntries(shares), scored)],
        checks: [
          all.outcome({
            population: scored,
            value: Object.fromEntries(
              [...now].map(([name, one]) => [name, ratioOf(one.failed, one.scored)]),
            ),
            threshold: `at most ${percent}% of the items of each scorer fail`,
            failures: failures.toSorted((a, b) => (scorerOf(a) < scorerOf(b) ? -1 : 1)),
          }),
        ],
      }
    },
  }
}

const scorerOf = ({ params }: CheckFailure): string => String(params['scorer'])
