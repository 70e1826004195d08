import { foldName } from '@remit/contract'
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
 * Returns whether the key itself names the voter. A name that only the request contains is
 * unproven: such a vote is counted and shown, but is no evidence of human oversight.
 */
export const isNamed = ({ type, named }: VoteFacts): boolean => type === 'person' && named

/** The name under which a voter is counted. */
export const voterName = ({ type, id, keyId }: VoteFacts): string =>
  type === 'person' ? foldName(id) : (keyId ?? id)

/** The reason why a vote is not the vote of a named, independent person. */
export type Objection = 'unnamed' | 'requester' | 'owner'

/** Returns the reason why a vote does not count; null for a vote of a named, independent person. */
export function objectionTo(
  vote: VoteFacts,
  { agentId, requestedBy, actingFor }: ApprovalState,
  { agents }: FactState,
): Objection | null {
  // The requesting key decides its own request, whatever name it states.
  if (requestedBy.type === 'key' && vote.keyId === requestedBy.id) return 'requester'
  const is = (name: string | null | undefined) =>
    vote.type === 'person' && name != null && foldName(name) === foldName(vote.id)
  if (is(requestedBy.person) || is(actingFor)) return 'requester'
  const owners = agents.get(agentId)?.owners ?? []
  if (owners.some(({ type, id, email }) => type === 'user' && (is(id) || is(email)))) return 'owner'
  return isNamed(vote) ? null : 'unnamed'
}
