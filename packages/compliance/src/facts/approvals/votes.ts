import { foldName } from '@remit/contract/values'
import type { FactEntry } from '../entry.ts'
import { recordIn } from '../recorded-json.ts'
import { voteOf } from '../state/approvals.ts'
import type { ApprovalState, VoteFacts } from '../state/approvals.ts'
import type { FactState } from '../state/state.ts'

/** Entry kinds with votes: a further vote, or the deciding one. */
export const VOTING = ['approval.voted', 'approval.decided'] as const

/** Reads the vote of an entry; null if it contains none. */
export function voteIn({ data }: FactEntry): VoteFacts | null {
  const vote = recordIn(data, 'vote')
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
  if (owners.some(({ type, id, email }) => type === 'user' && is([id, email ?? null])))
    return 'owner'
  if (!isNamed(vote)) return 'unnamed'
  // Their keys are not revoked with them.
  return state.people.isFormer([vote.id, vote.email]) ? 'former' : null
}
