import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { percentile } from '../percentile.ts'
import { SECOND } from '../report-query.ts'
import { isAtMostPercent, percentText, ratioOf } from '../ratio.ts'
import { approvalOf } from '../state/approvals.ts'
import { isRelaxed } from '../thresholds.ts'
import { isNamed, voteIn, VOTING } from './votes.ts'

/** M18, M20: the share of refusals, and the share of approvals that are too fast for a review. */
export const rapidApprovalsMeter: CreateMeter = ({ question: { thresholds }, seqsOf }) => {
  const quick = seqsOf('APR-5')
  const rapidMs = thresholds.rapid_seconds * SECOND
  const medianMs = thresholds.unrefused_median_seconds * SECOND
  const outcomes = { approved: 0, rejected: 0 }
  const durations: number[] = []
  let approvals = 0
  let rapid = 0
  let named = 0
  return {
    reads: VOTING,
    entry(entry) {
      const vote = voteIn(entry)
      const approval = approvalOf(entry)
      if (!vote || !approval) return
      const ms = entry.time - approval.requestedAt
      if (entry.kind === 'approval.decided') {
        outcomes[approval.status === 'approved' ? 'approved' : 'rejected'] += 1
        durations.push(ms)
      }
      if (vote.decision !== 'approve') return
      approvals += 1
      if (isNamed(vote)) named += 1
      if (ms < rapidMs) rapid += 1
      if (ms < Math.max(rapidMs, medianMs)) quick.add(entry.seq)
    },
    end() {
      const { approved, rejected } = outcomes
      const decided = approved + rejected
      const refusals = ratioOf(rejected, decided)
      const share = ratioOf(rapid, approvals)
      const median = percentile(
        durations.toSorted((a, b) => a - b),
        50,
      )
      const neverRefuses =
        decided >= thresholds.unrefused_decisions &&
        rejected === 0 &&
        median !== null &&
        median < medianMs
      const isFine = isAtMostPercent(rapid, approvals, thresholds.rapid_percent) && !neverRefuses
      const params = { share: percentText(share), refusals: percentText(refusals) }
      // A share of a few cases is not meaningful.
      const isJudged = approvals >= thresholds.min_approvals
      return {
        metrics: [
          { id: 'M18', value: refusals, population: decided },
          { id: 'M20', value: share, population: approvals },
        ],
        checks: [
          outcome({
            check: 'APR-5',
            population: approvals,
            basis: named,
            value: { rapid_share: share, refusal_share: refusals, unnamed: approvals - named },
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
