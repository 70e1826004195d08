import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { approvalOf } from '../state/approvals.ts'
import { objectionTo, voteIn, VOTING } from './votes.ts'

/**
 * M22: votes by whoever asked, by an owner of the agent, or by nobody in particular. A person whom
 * only the request names, with no key of his own, counts as named; how many such there are is shown.
 */
export const independenceMeter: CreateMeter = ({ seqsOf }) => {
  const against = seqsOf('APR-3')
  const counts = { requester: 0, owner: 0, unnamed: 0 }
  let unproven = 0
  let votes = 0
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
      } else if (!vote.named) unproven += 1
    },
    end: () => ({
      metrics: [
        { id: 'M22', value: { count: against.count, ...counts, unproven }, population: votes },
      ],
      checks: [
        outcome({
          check: 'APR-3',
          population: votes,
          value: { count: against.count },
          threshold: '0',
          failures: failing(against),
        }),
      ],
    }),
  }
}
