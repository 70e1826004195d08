import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { percentile } from '../percentile.ts'
import { SECOND } from '../report-query.ts'
import { decimal, isAtMostPercent, percentText, ratioOf } from '../ratio.ts'
import { approvalOf } from '../state/approvals.ts'
import type { ApprovalState, VoteFacts } from '../state/approvals.ts'
import { isRelaxed } from '../thresholds.ts'
import { isNamed, voteIn, VOTING } from './votes.ts'

/** Counts of votes, and the milliseconds until requests were decided. */
class Tally {
  readonly #rapidMs: number
  readonly #durations: number[] = []
  approvals = 0
  rapid = 0
  approved = 0
  decided = 0

  constructor(rapidMs: number) {
    this.#rapidMs = rapidMs
  }

  add(vote: VoteFacts, { status }: ApprovalState, ms: number, isDeciding: boolean): void {
    if (isDeciding) {
      this.decided += 1
      if (status === 'approved') this.approved += 1
      this.#durations.push(ms)
    }
    if (vote.decision !== 'approve') return
    this.approvals += 1
    if (ms < this.#rapidMs) this.rapid += 1
  }

  get refused(): number {
    return this.decided - this.approved
  }

  get rapidShare() {
    return ratioOf(this.rapid, this.approvals)
  }

  get refusalShare() {
    return ratioOf(this.refused, this.decided)
  }

  get median(): number | null {
    return percentile(
      this.#durations.toSorted((a, b) => a - b),
      50,
    )
  }
}

/**
 * M18, M20: the share of refusals, and the share of approvals that are too fast for a review. The
 * check is about votes of named people.
 */
export const rapidApprovalsMeter: CreateMeter = ({ question: { thresholds }, seqsOf }) => {
  const quick = seqsOf('APR-5')
  const rapidMs = thresholds.rapid_seconds * SECOND
  const medianMs = thresholds.unrefused_median_seconds * SECOND
  const all = new Tally(rapidMs)
  const named = new Tally(rapidMs)
  const cases = new Cases()
  return {
    reads: VOTING,
    entry(entry) {
      const vote = voteIn(entry)
      const approval = approvalOf(entry)
      if (!vote || !approval) return
      const ms = entry.time - approval.requestedAt
      const isDeciding = entry.kind === 'approval.decided'
      all.add(vote, approval, ms, isDeciding)
      if (!isNamed(vote)) return
      named.add(vote, approval, ms, isDeciding)
      if (vote.decision !== 'approve') return
      cases.add(entry.time)
      if (ms < Math.max(rapidMs, medianMs)) quick.add(entry.seq)
    },
    end() {
      const { approvals, rapid, decided, refused, rapidShare, refusalShare, median } = named
      const neverRefuses =
        decided >= thresholds.unrefused_decisions &&
        refused === 0 &&
        median !== null &&
        median < medianMs
      const isFine = isAtMostPercent(rapid, approvals, thresholds.rapid_percent) && !neverRefuses
      const params = {
        share: percentText(rapidShare),
        refusals: percentText(refusalShare),
        median: median === null ? 'none' : decimal(median, SECOND, 1),
      }
      // A share of a few cases is not meaningful.
      const isJudged = approvals >= thresholds.min_approvals
      return {
        metrics: [
          { id: 'M18', value: all.refusalShare, population: all.decided },
          { id: 'M20', value: all.rapidShare, population: all.approvals },
        ],
        checks: [
          outcome({
            check: 'APR-5',
            population: approvals,
            cases,
            value: {
              rapid_share: rapidShare,
              refusal_share: refusalShare,
              unnamed: all.approvals - approvals,
            },
            threshold: `at most ${thresholds.rapid_percent}% in under ${thresholds.rapid_seconds} seconds, and not ${thresholds.unrefused_decisions} decisions without a refusal with a median below ${thresholds.unrefused_median_seconds} seconds`,
            relaxed: isRelaxed(
              thresholds,
              'rapid_percent',
              'rapid_seconds',
              'min_approvals',
              'unrefused_decisions',
              'unrefused_median_seconds',
            ),
            failures: isFine || !isJudged ? [] : failing(quick, params),
          }),
        ],
      }
    },
  }
}
