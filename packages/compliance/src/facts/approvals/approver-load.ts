import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { HOUR } from '../report-query.ts'
import { ratioOf } from '../ratio.ts'
import { isRelaxed } from '../thresholds.ts'
import { isNamed, voteIn, voterName, VOTING } from './votes.ts'

interface Load {
  hour: number
  inHour: number
  most: number
  total: number
}

/**
 * M21: the maximum number of requests one approver decides in a clock hour (UTC), and the share of
 * the busiest approver.
 */
export const approverLoadMeter: CreateMeter = ({ question: { thresholds }, seqsOf }) => {
  const most = thresholds.approver_decisions_per_hour
  const beyond = seqsOf('APR-7')
  const loads = new Map<string, Load>()
  let votes = 0
  let approvals = 0
  let named = 0
  return {
    reads: VOTING,
    entry(entry) {
      const vote = voteIn(entry)
      if (!vote) return
      votes += 1
      if (vote.decision === 'approve') {
        approvals += 1
        if (isNamed(vote)) named += 1
      }
      const hour = Math.floor(entry.time / HOUR)
      const name = voterName(vote)
      const load = loads.get(name) ?? { hour, inHour: 0, most: 0, total: 0 }
      loads.set(name, load)
      if (load.hour !== hour) load.inHour = 0
      load.hour = hour
      load.inHour += 1
      load.total += 1
      load.most = Math.max(load.most, load.inHour)
      if (load.inHour > most) beyond.add(entry.seq)
    },
    end() {
      const [first] = [...loads].toSorted(([a, x], [b, y]) => y.most - x.most || (a < b ? -1 : 1))
      const busiest = [...loads.values()].reduce((total, load) => Math.max(total, load.total), 0)
      const n = first?.[1].most ?? 0
      return {
        metrics: [
          {
            id: 'M21',
            value: {
              max_per_hour: n,
              approvers: loads.size,
              busiest_share: ratioOf(busiest, votes),
            },
            population: votes,
          },
        ],
        checks: [
          outcome({
            check: 'APR-7',
            population: votes,
            basis: named,
            value: { max_per_hour: n },
            threshold: `at most ${most} votes of one approver in an hour`,
            relaxed: isRelaxed(thresholds, 'approver_decisions_per_hour', 'min_approvals'),
            failures:
              approvals < thresholds.min_approvals
                ? []
                : failing(beyond, { approver: first?.[0] ?? '', n }),
          }),
        ],
      }
    },
  }
}
