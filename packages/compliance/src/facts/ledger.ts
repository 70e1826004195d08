import { OrganizationSettings } from '@remit/contract'
import type { CreateMeter, CheckFailure, CheckOutcome } from './meter.ts'
import { NameCounts } from './name-counts.ts'
import { failing } from './outcome.ts'
import { hoursText, daysText } from './moment.ts'
import { HOUR, DAY } from './facts.ts'
import { metric, ratioOf } from './meter.ts'
import type { FactState } from './state/state.ts'
import { voteIn, VOTING } from './approvers.ts'
import { isAdministrative } from './changes.ts'
import { DECIDED, timeOf } from './entry.ts'
import type { FactEntry } from './entry.ts'
import { Intervals } from './intervals.ts'

/**
 * M02 to M04 and M08: the results of the verification up to the end of the period. The sequence
 * numbers of gaps are computed again to list the entries behind the finding.
 */
export const chainMeter: CreateMeter = ({ seqsOf }) => {
  const broken = seqsOf('LED-1')
  const breaks = seqsOf('LED-2')
  const disagreeing = seqsOf('LED-7')
  let kept = 0
  let used = 0
  let before: { readonly seq: number; readonly time: number } | null = null
  return {
    reads: ['*'],
    since: -Infinity,
    entry(entry, state, inPeriod) {
      const { seq, time } = entry
      kept += 1
      if (inPeriod && isUse(entry, state)) used += 1
      if (before && (seq !== before.seq + 1 || time < before.time)) breaks.add(seq)
      before = { seq, time }
    },
    end(_state, { chain }) {
      const { firstBadSeq, gaps, regressions, checkpoints, mismatches } = chain
      if (firstBadSeq !== null) broken.add(firstBadSeq)
      for (const { seq } of mismatches) disagreeing.add(seq)
      const links = Math.max(0, kept - 1)
      const compared = Math.max(checkpoints, mismatches.length)
      return {
        metrics: [
          metric(
            'M02',
            {
              ok: firstBadSeq === null,
              verified_from_seq: chain.verifiedFromSeq,
              first_bad_seq: firstBadSeq,
            },
            kept,
          ),
          metric('M03', gaps, links),
          metric('M04', regressions, links),
          metric('M08', { checked: checkpoints, mismatches: mismatches.length }, compared),
        ],
        checks: [
          broken.outcome({
            // An unreadable ledger is broken too, even without entries.
            population: firstBadSeq === null ? kept : Math.max(1, kept),
            basis: used,
            value: { first_bad_seq: firstBadSeq },
            params: { first_bad_seq: firstBadSeq ?? -1 },
          }),
          breaks.outcome({
            population: links,
            basis: used,
            value: { gaps, regressions },
            failures: failing(
              { count: gaps + regressions, seqs: breaks.seqs },
              { gaps, regressions },
            ),
          }),
          disagreeing.outcome({
            population: compared,
            value: { mismatches: mismatches.length },
            failures: mismatches.map(({ seq, keptBy }) =>
              failureOf(seq, { report_id: keptBy, seq }),
            ),
          }),
        ],
      }
    },
  }
}

const failureOf = (seq: number, params: CheckFailure['params']): CheckFailure => ({
  params,
  count: 1,
  seqs: [seq],
})

interface Silence {
  readonly ms: number
  readonly from: number | string
  readonly to: number | string
}

interface Place {
  readonly seq: number
  readonly time: number
}

/**
 * The creation time of the organization, milliseconds; minus infinity if the entry was pruned and
 * not carried over.
 */
const createdAt = ({ organization }: FactState, firstKept: Place | null): number => {
  if (organization) return organization.createdAt
  return firstKept?.seq === 0 ? firstKept.time : -Infinity
}

/** M05, M06: the longest silence, and the share of the period that the record covers. */
export const coverageMeter: CreateMeter = ({ question, seqsOf }) => {
  const { from, to, thresholds } = question
  const allowed = thresholds.silence_hours * HOUR
  const silent = seqsOf('LED-3')
  const late = seqsOf('LED-5')
  let firstKept: Place | null = null
  let first: Place | null = null
  let last: Place | null = null
  let longest: Silence | null = null
  /** The entry that ended the last silence beyond the limit. */
  let brokenBy: number | null = null
  let decisions = 0
  let entries = 0
  let used = 0

  function heard(silence: Silence, seq: number | null): void {
    if (silence.ms > allowed && seq !== null) silent.add(seq)
    if (longest === null || silence.ms > longest.ms) longest = silence
  }

  function between(begin: number): Silence | null {
    const isInside = begin < to
    if (first === null || last === null) {
      if (isInside) heard({ ms: to - begin, from: START, to: END }, null)
    } else {
      heard({ ms: Math.max(0, first.time - begin), from: START, to: first.seq }, first.seq)
      if (first.time - begin > allowed) brokenBy ??= first.seq
      heard({ ms: to - last.time, from: last.seq, to: END }, last.seq)
    }
    return longest
  }

  function silenceOutcome(found: Silence | null, { isBeating }: FactState): CheckOutcome {
    const isLong = found !== null && found.ms > allowed
    return silent.outcome({
      population: isBeating || decisions > 0 ? Math.max(1, entries) : 0,
      basis: used,
      value: { longest_hours: found && hoursText(found.ms) },
      threshold: `longest silence at most ${thresholds.silence_hours} hours`,
      failures: isLong
        ? [
            {
              params: {
                hours: hoursText(found.ms),
                from: placeText(found.from),
                until: placeText(found.to),
              },
              count: silent.count,
              seqs: silent.seqs,
              fixedBy: last !== null && to - last.time > allowed ? null : brokenBy,
            },
          ]
        : [],
    })
  }

  return {
    reads: ['*'],
    since: -Infinity,
    entry(entry, state, inPeriod) {
      const { seq, time, kind, erased } = entry
      firstKept ??= { seq, time }
      // Entries written by callers do not show that the server recorded.
      if (!inPeriod || kind === 'entry.appended' || kind === 'enforcement.gap') return
      entries += 1
      if (isUse(entry, state)) used += 1
      if (kind === 'authorization.decided' && !erased) decisions += 1
      first ??= { seq, time }
      if (last) {
        heard({ ms: time - last.time, from: last.seq, to: seq }, last.seq)
        if (time - last.time > allowed) brokenBy = seq
      }
      last = { seq, time }
    },
    end(state, { chain }) {
      const created = createdAt(state, firstKept)
      const begin = Math.max(from, created)
      // After a pruning, the record starts at the cut, not at the first remaining entry.
      const recordFrom = Math.max(from, chain.keptFrom ?? firstKept?.time ?? to)
      // Silence before the record is a matter of LED-5.
      const found = between(chain.keptFrom === null ? begin : Math.max(begin, recordFrom))
      const covered = ratioOf(Math.max(0, to - recordFrom), Math.max(0, to - begin))
      if (recordFrom > begin && firstKept) late.add(firstKept.seq)
      return {
        metrics: [
          metric(
            'M05',
            found && { hours: hoursText(found.ms), from_seq: found.from, to_seq: found.to },
            entries,
          ),
          metric('M06', covered, covered ? 1 : 0),
        ],
        checks: [
          silenceOutcome(found, state),
          late.outcome({
            population: firstKept && created < from ? 1 : 0,
            value: { covered },
            params: { first_ts: firstKept ? utcText(firstKept.time) : NEVER },
          }),
        ],
      }
    },
  }
}

const placeText = (place: number | string): string =>
  typeof place === 'number' ? `entry ${place}` : place
const utcText = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`

const START = 'the start of the period'
const END = 'the end of the period'
const NEVER = 'no time'

/** M01, M50: the entries of the period, those that were erased, and the share written by callers. */
export const entriesMeter: CreateMeter = ({ seqsOf }) => {
  const byKind = new NameCounts()
  const erasedByKind = new NameCounts()
  const erasedSeqs = seqsOf('LED-8')
  let entries = 0
  let firstSeq: number | null = null
  let lastSeq: number | null = null
  return {
    reads: ['*'],
    entry({ kind, seq, erased }) {
      entries += 1
      firstSeq ??= seq
      lastSeq = seq
      byKind.add(kind)
      if (!erased) return
      erasedSeqs.add(seq)
      erasedByKind.add(kind)
    },
    end() {
      const appended = byKind.of('entry.appended') + byKind.of('enforcement.gap')
      const counted = {
        count: entries,
        first_seq: firstSeq,
        last_seq: lastSeq,
        by_kind: byKind.all,
        erased: erasedSeqs.count,
      }
      const kinds = Object.entries(erasedByKind.all).map(([kind, count]) => `${kind} (${count})`)
      return {
        metrics: [
          metric('M01', counted, entries),
          metric('M50', ratioOf(appended, entries), entries),
        ],
        checks: [
          erasedSeqs.outcome({
            population: entries,
            value: { erased: erasedSeqs.count },
            params: { n: erasedSeqs.count, kinds: kinds.join(', ') },
          }),
        ],
      }
    },
  }
}

const VOTES: ReadonlySet<string> = new Set(VOTING)

/**
 * Returns whether an entry records use: a decision, a vote or a change. Entries of callers, and
 * those that the server writes by itself, such as heartbeats, do not.
 */
function isUse(entry: FactEntry, state: FactState): boolean {
  const { kind, erased } = entry
  if (kind === DECIDED) return !erased
  return VOTES.has(kind) ? voteIn(entry) !== null : isAdministrative(entry, state)
}

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
        metrics: [metric('M49', value, recorded.length)],
        checks: [
          wrong.outcome({
            population: recorded.length,
            value: { not_intact: broken.length },
            failures: broken.map(({ seq, reportId }) => failureOf(seq, { report_id: reportId })),
          }),
        ],
      }
    },
  }
}

/** The default, if no entry sets another. */
const DEFAULT_RETENTION_DAYS = OrganizationSettings.parse({}).retention_days

const settingOf = ({ organization }: FactState): number =>
  organization?.settings?.retention_days ?? DEFAULT_RETENTION_DAYS

/** M07: the age of the oldest kept decision, the retention setting, and the age of the youngest pruned entry. */
export const retentionMeter: CreateMeter = ({ question, seqsOf }) => {
  const { to, thresholds } = question
  const least = thresholds.retention_days
  const early = seqsOf('LED-4')
  let kept = 0
  let decisions = 0
  let youngestPruned: number | null = null
  return {
    reads: ['*'],
    since: -Infinity,
    entry(entry, _state, inPeriod) {
      kept += 1
      if (entry.kind === DECIDED && !entry.erased) decisions += 1
      if (entry.kind !== 'ledger.pruned' || !inPeriod) return
      const pruned = entry.read('ledger.pruned')
      const prunedAt = timeOf(pruned.pruned_at) ?? entry.time
      const cutoff = timeOf(pruned.cutoff)
      // If a pruning does not record its cutoff, assume the worst.
      const age = cutoff === null ? 0 : prunedAt - cutoff
      if (youngestPruned === null || age < youngestPruned) youngestPruned = age
      if (age < least * DAY) early.add(entry.seq)
    },
    end(state, _outside, oldestDecision) {
      const days = settingOf(state)
      const isShort = days < least
      return {
        metrics: [
          metric(
            'M07',
            {
              kept_days: oldestDecision === null ? null : Math.floor((to - oldestDecision) / DAY),
              setting_days: days,
              shortest_pruned_age_days: youngestPruned === null ? null : daysText(youngestPruned),
            },
            kept,
          ),
        ],
        checks: [
          early.outcome({
            population: kept,
            basis: decisions,
            value: { setting_days: days, early_prunings: early.count },
            threshold: `set to at least ${least} days, nothing younger pruned`,
            failures:
              isShort || early.count > 0
                ? [{ params: { days, early: early.count }, count: early.count, seqs: early.seqs }]
                : [],
          }),
        ],
      }
    },
  }
}

/** M09: the longest time without a successful verification of the ledger. */
export const verificationsMeter: CreateMeter = ({ question, seqsOf }) => {
  const most = question.thresholds.verification_interval_days
  const intervals = new Intervals(question, most, seqsOf('LED-6'))
  return {
    reads: ['ledger.verified'],
    entry(entry) {
      if (entry.read('ledger.verified').valid) intervals.add(entry.seq, entry.time)
    },
    end(state) {
      const { count, value, check } = intervals.end(state)
      return { metrics: [metric('M09', { ...value, sound: count }, count)], checks: [check] }
    },
  }
}
