import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { approvalOf } from '../state/approvals.ts'
import { isNamed, objectionTo, voteIn, VOTING } from './votes.ts'

/**
 * M22: votes by the requester, by an owner of the agent, or with a key without a named person.
 * `asserted` counts the unnamed votes for which the request contained a name.
 */
export const independenceMeter: CreateMeter = ({ seqsOf }) => {
  const against = seqsOf('APR-3')
  const counts = { requester: 0, owner: 0, unnamed: 0 }
  let asserted = 0
  let votes = 0
  let named = 0
  return {
    reads: VOTING,
    entry(entry, state) {
      const vote = voteIn(entry)
      const approval = approvalOf(entry)
      if (!vote || !approval) return
      votes += 1
      const objection = objectionTo(vote, approval, state)
      if (objection) {
        counts[objection] += 1
        against.add(entry.seq)
      }
      if (isNamed(vote)) named += 1
      else if (vote.type === 'person') asserted += 1
    },
    end: () => ({
      metrics: [
        { id: 'M22', value: { count: against.count, ...counts, asserted }, population: votes },
      ],
      checks: [
        outcome({
          check: 'APR-3',
          population: votes,
          basis: named,
          value: { named, unnamed: votes - named, count: against.count },
          failures: failing(against, { n: against.count, ...counts }),
        }),
      ],
    }),
  }
}
