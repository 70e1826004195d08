import { hoursText } from '../days.ts'
import type { CreateMeter, CheckOutcome } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { HOUR } from '../report-query.ts'
import { ratioOf } from '../ratio.ts'
import type { FactState } from '../state/state.ts'
import { isRelaxed } from '../thresholds.ts'
import { isUse } from './recorded-use.ts'

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
    return outcome({
      check: 'LED-3',
      population: isBeating || decisions > 0 ? Math.max(1, entries) : 0,
      basis: used,
      value: { longest_hours: found && hoursText(found.ms) },
      threshold: `longest silence at most ${thresholds.silence_hours} hours`,
      relaxed: isRelaxed(thresholds, 'silence_hours'),
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
      const isWhole = recordFrom <= begin
      if (!isWhole && firstKept) late.add(firstKept.seq)
      return {
        metrics: [
          {
            id: 'M05',
            value: found && { hours: hoursText(found.ms), from_seq: found.from, to_seq: found.to },
            population: entries,
          },
          { id: 'M06', value: covered, population: covered ? 1 : 0 },
        ],
        checks: [
          silenceOutcome(found, state),
          outcome({
            check: 'LED-5',
            population: firstKept && created < from ? 1 : 0,
            value: { covered },
            failures: isWhole
              ? []
              : failing(late, {
                  first_ts: firstKept ? utcText(firstKept.time) : NEVER,
                }),
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
