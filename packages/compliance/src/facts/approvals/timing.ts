import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { percentile } from '../percentile.ts'
import { HOUR, SECOND } from '../report-query.ts'
import { decimal, isAtMostPercent, percentText, ratioOf } from '../ratio.ts'
import { approvalAt, approvalOf } from '../state/approvals.ts'
import type { ApprovalState } from '../state/approvals.ts'
import { isRelaxed } from '../thresholds.ts'

const seconds = (ms: number | null): string | null => (ms === null ? null : decimal(ms, SECOND, 3))

/**
 * M17, M19: decision times, pending requests and expired requests. A request expires at its own
 * end, not at the time of the entry that records it. It counts as decided too late: without a
 * decision, there is no timely oversight.
 */
export const timingMeter: CreateMeter = ({ question, seqsOf }) => {
  const { from, to, thresholds } = question
  const slowMs = thresholds.approval_p95_hours * HOUR
  const pendingMs = thresholds.approval_pending_hours * HOUR
  const late = seqsOf('APR-4')
  const durations: number[] = []
  /** The last vote after the deadline. */
  let lateSeq: number | null = null
  /** The entry that records the expiry of each request. */
  const expired: number[] = []

  const hasRunOut = ({ expiresAt }: ApprovalState): boolean =>
    expiresAt !== null && from <= expiresAt && expiresAt < to

  return {
    reads: ['approval.decided', 'approval.expired'],
    entry(entry) {
      const approval = approvalOf(entry)
      if (!approval) return
      if (entry.kind === 'approval.expired') {
        // An unused approval expires too, but it was answered.
        if (approval.decidedAt === null && hasRunOut(approval)) expired.push(entry.seq)
        return
      }
      const ms = entry.time - approval.requestedAt
      durations.push(ms)
      if (ms <= slowMs) return
      late.add(entry.seq)
      lateSeq = entry.seq
    },
    end({ approvals }) {
      const sorted = durations.toSorted((a, b) => a - b)
      const p95 = percentile(sorted, 95)
      const pending: ApprovalState[] = []
      for (const one of approvals.values()) {
        if (one.status !== 'pending') continue
        if (approvalAt(one, to) === 'pending') pending.push(one)
        else if (hasRunOut(one)) expired.push(one.seq)
      }
      const overdue = pending.filter(({ requestedAt }) => to - requestedAt > pendingMs)
      for (const { seq } of overdue) late.add(seq)
      const oldest = pending.reduce((age, { requestedAt }) => Math.max(age, to - requestedAt), 0)
      const population = durations.length + pending.length + expired.length
      const ended = durations.length + expired.length
      const slow = durations.filter((ms) => ms > slowMs).length + expired.length
      const isSlow = !isAtMostPercent(slow, ended, 5)
      if (isSlow) for (const seq of expired) late.add(seq)
      const isLate = isSlow || overdue.length > 0
      const decided =
        ended === 0
          ? 'No request was decided'
          : `${percentText(ratioOf(ended - slow, ended))} of ${ended} were decided within ${thresholds.approval_p95_hours} hours`
      return {
        metrics: [
          {
            id: 'M17',
            value: {
              median: seconds(percentile(sorted, 50)),
              p95: seconds(p95),
              max: seconds(sorted.at(-1) ?? null),
            },
            population: durations.length,
          },
          {
            id: 'M19',
            value: {
              pending: pending.length,
              oldest_seconds: pending.length > 0 ? seconds(oldest) : null,
              overdue: overdue.length,
              expired: expired.length,
            },
            population,
          },
        ],
        checks: [
          outcome({
            check: 'APR-4',
            population,
            value: { p95_seconds: seconds(p95), overdue: overdue.length, expired: expired.length },
            threshold: `95% within ${thresholds.approval_p95_hours} hours and none pending longer than ${thresholds.approval_pending_hours} hours`,
            relaxed: isRelaxed(thresholds, 'approval_p95_hours', 'approval_pending_hours'),
            failures: isLate
              ? failing(
                  late,
                  { decided, n: overdue.length, expired: expired.length },
                  expired.length > 0 || overdue.length > 0 ? null : lateSeq,
                )
              : [],
          }),
        ],
      }
    },
  }
}
