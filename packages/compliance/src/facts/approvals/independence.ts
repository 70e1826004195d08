import { Cases } from '../cases.ts'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { approvalOf } from '../state/approvals.ts'
import { isNamed, objectionTo, voteIn, VOTING } from './votes.ts'
import type { Objection } from './votes.ts'

/**
 * M22: votes by the requester, by an owner of the agent, with the key of a person who was disabled or
 * removed, or with a key without a named person.
 * `asserted` counts the unnamed votes for which the request contained a name.
 */
export const independenceMeter: CreateMeter = ({ seqsOf }) => {
  const against = seqsOf('APR-3')
  const counts = { requester: 0, owner: 0, former: 0, unnamed: 0 }
  let asserted = 0
  let votes = 0
  const named = new Cases()
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
      if (isNamed(vote)) named.add(entry.time)
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
          cases: named,
          value: { named: named.count, unnamed: votes - named.count, count: against.count },
          failures: failing(against, { n: against.count, by: byText(counts) }),
        }),
      ],
    }),
  }
}

const BY: Readonly<Record<Objection, string>> = {
  requester: 'by the requester',
  owner: 'by an owner of the agent',
  former: 'with the key of a person who was disabled or removed',
  unnamed: 'with a key that names nobody',
}

const byText = (counts: Readonly<Record<Objection, number>>): string =>
  (['requester', 'owner', 'former', 'unnamed'] as const)
    .filter((one) => counts[one] > 0)
    .map((one) => `${BY[one]} (${counts[one]})`)
    .join(', ')
