import { foldName } from '@remit/contract/values'
import type { FactEntry } from './entry.ts'
import { voteOf, approvalOf, approvalAt } from './state/rules.ts'
import type { ApprovalState, VoteFacts } from './state/rules.ts'
import type { FactState } from './state/state.ts'
import { Cases, SECOND, HOUR } from './facts.ts'
import { decimal, isAtMostPercent, metric, percentText, ratioOf } from './meter.ts'
import type { CreateMeter } from './meter.ts'
import { secondsText } from './moment.ts'
import { percentile } from './percentile.ts'

/** Entry kinds with votes: a further vote, or the deciding one. */
export const VOTING = ['approval.voted', 'approval.decided'] as const

/** Reads the vote of an entry; null if it contains none. */
export function voteIn(entry: FactEntry): VoteFacts | null {
  const { vote } = entry.read('approval.voted')
  return vote && voteOf(vote)
}

/**
 * Returns whether the key or session itself names the voter. A name that only the request contains
 * is unproven: such a vote is counted and shown, but is no evidence of human oversight.
 */
export const isNamed = ({ type, named }: VoteFacts): boolean => type === 'person' && named

/** The name under which a voter is counted. */
export const voterName = ({ type, id, email, keyId }: VoteFacts): string =>
  type === 'person' ? foldName(email || id) : (keyId ?? id)

/** All names of a voter: the key or session, and the person with every address. */
export const namesOf = ({ keyId, id, email }: VoteFacts, { people }: FactState) =>
  people.namesOf([keyId, id, email])

/** The reason why a vote is not the vote of a named, independent person. */
export type Objection = 'unnamed' | 'requester' | 'owner' | 'former'

/** Returns the reason why a vote does not count; null for a vote of a named, independent person. */
export function objectionTo(
  vote: VoteFacts,
  { agentId, requesters }: ApprovalState,
  state: FactState,
): Objection | null {
  const voter = namesOf(vote, state)
  const is = (names: readonly (string | null)[]) =>
    [...state.people.namesOf(names)].some((name) => voter.has(name))
  if (is(requesters)) return 'requester'
  const owners = state.agents.get(agentId)?.owners ?? []
  if (owners.some(({ type, id, email }) => type === 'user' && is([id, email]))) return 'owner'
  if (!isNamed(vote)) return 'unnamed'
  // Their keys are not revoked with them.
  return state.people.isFormer([vote.id, vote.email]) ? 'former' : null
}

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
      return {
        metrics: [
          metric('M18', all.refusalShare, all.decided),
          metric('M20', all.rapidShare, all.approvals),
        ],
        checks: [
          quick.outcome({
            population: approvals,
            cases,
            value: {
              rapid_share: rapidShare,
              refusal_share: refusalShare,
              unnamed: all.approvals - approvals,
            },
            threshold: `at most ${thresholds.rapid_percent}% in under ${thresholds.rapid_seconds} seconds, and not ${thresholds.unrefused_decisions} decisions without a refusal with a median below ${thresholds.unrefused_median_seconds} seconds`,
            // A share of a few cases is not meaningful.
            fails: !isFine && approvals >= thresholds.min_approvals,
            params: {
              share: percentText(rapidShare),
              refusals: percentText(refusalShare),
              median: median === null ? 'none' : decimal(median, SECOND, 1),
            },
          }),
        ],
      }
    },
  }
}

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
      const decided =
        ended === 0
          ? 'No request was decided'
          : `${percentText(ratioOf(ended - slow, ended))} of ${ended} were decided within ${thresholds.approval_p95_hours} hours`
      return {
        metrics: [
          metric(
            'M17',
            {
              median: secondsText(percentile(sorted, 50)),
              p95: secondsText(p95),
              max: secondsText(sorted.at(-1) ?? null),
            },
            durations.length,
          ),
          metric(
            'M19',
            {
              pending: pending.length,
              oldest_seconds: pending.length > 0 ? secondsText(oldest) : null,
              overdue: overdue.length,
              expired: expired.length,
            },
            population,
          ),
        ],
        checks: [
          late.outcome({
            population,
            value: {
              p95_seconds: secondsText(p95),
              overdue: overdue.length,
              expired: expired.length,
            },
            threshold: `95% within ${thresholds.approval_p95_hours} hours and none pending longer than ${thresholds.approval_pending_hours} hours`,
            fails: isSlow || overdue.length > 0,
            params: { decided, n: overdue.length, expired: expired.length },
            fixedBy: expired.length > 0 || overdue.length > 0 ? null : lateSeq,
          }),
        ],
      }
    },
  }
}
