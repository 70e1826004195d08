import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { HOUR } from '../report-query.ts'
import { ratioOf } from '../ratio.ts'
import { isRelaxed } from '../thresholds.ts'
import { isNamed, voteIn, voterName, VOTING } from './votes.ts'

interface Load {
  readonly isNamed: boolean
  hour: number
  inHour: number
  most: number
  total: number
}

/**
 * M21: the maximum number of requests one approver decides in a clock hour (UTC), and the share of
 * the busiest approver. The check is about votes of named people.
 */
export const approverLoadMeter: CreateMeter = ({ question: { thresholds }, seqsOf }) => {
  const most = thresholds.approver_decisions_per_hour
  const beyond = seqsOf('APR-7')
  const loads = new Map<string, Load>()
  let votes = 0
  const approvals = new Cases()
  let named = 0
  return {
    reads: VOTING,
    entry(entry) {
      const vote = voteIn(entry)
      if (!vote) return
      votes += 1
      if (isNamed(vote)) {
        named += 1
        if (vote.decision === 'approve') approvals.add(entry.time)
      }
      const hour = Math.floor(entry.time / HOUR)
      const name = voterName(vote)
      const load = loads.get(name) ?? {
        isNamed: isNamed(vote),
        hour,
        inHour: 0,
        most: 0,
        total: 0,
      }
      loads.set(name, load)
      if (load.hour !== hour) load.inHour = 0
      load.hour = hour
      load.inHour += 1
      load.total += 1
      load.most = Math.max(load.most, load.inHour)
      if (load.isNamed && load.inHour > most) beyond.add(entry.seq)
    },
    end() {
      const ordered = [...loads].toSorted(([a, x], [b, y]) => y.most - x.most || (a < b ? -1 : 1))
      const busiest = [...loads.values()].reduce((total, load) => Math.max(total, load.total), 0)
      const [approver = '', load] = ordered.find(([, one]) => one.isNamed) ?? []
      const n = load?.most ?? 0
      return {
        metrics: [
          {
            id: 'M21',
            value: {
              max_per_hour: ordered[0]?.[1].most ?? 0,
              approvers: loads.size,
              busiest_share: ratioOf(busiest, votes),
            },
            population: votes,
          },
        ],
        checks: [
          outcome({
            check: 'APR-7',
            population: named,
            cases: approvals,
            value: { max_per_hour: n },
            threshold: `at most ${most} votes of one approver in an hour`,
            relaxed: isRelaxed(thresholds, 'approver_decisions_per_hour', 'min_approvals'),
            failures:
              approvals.count < thresholds.min_approvals ? [] : failing(beyond, { approver, n }),
          }),
        ],
      }
    },
  }
}
