import { foldName } from '@remit/contract'
import type { FactEntry } from '../entry.ts'
import { recordIn } from '../read.ts'
import { voteOf } from '../state/approvals.ts'
import type { ApprovalState, VoteFacts } from '../state/approvals.ts'
import type { State } from '../state/state.ts'

/** Entries in which somebody votes: one more vote, or the one that decides. */
export const VOTING = ['approval.voted', 'approval.decided'] as const

/** The vote that an entry tells of; null where it holds none. */
export function voteIn({ data }: FactEntry): VoteFacts | null {
  const vote = recordIn(data, 'vote')
  return vote && voteOf(vote)
}

/**
 * Whether a vote is that of a person whom its key names. A name that only the request gives is unproven:
 * such a vote is counted and shown, and says nothing about human oversight.
 */
export const isNamed = ({ type, named }: VoteFacts): boolean => type === 'person' && named

/** Whoever votes as one, under one name. */
export const voterName = ({ type, id, keyId }: VoteFacts): string =>
  type === 'person' ? foldName(id) : (keyId ?? id)

/** Why a vote is nobody's of whom one can tell, or no independent one's. */
export type Objection = 'unnamed' | 'requester' | 'owner'

/** The reason why a vote does not count; null for the vote of a named person without a part in the request. */
export function objectionTo(
  vote: VoteFacts,
  { agentId, requestedBy, actingFor }: ApprovalState,
  { agents }: State,
): Objection | null {
  // The key that asked decides itself, whoever it says to be.
  if (requestedBy.type === 'key' && vote.keyId === requestedBy.id) return 'requester'
  const is = (name: string | null | undefined) =>
    vote.type === 'person' && name != null && foldName(name) === foldName(vote.id)
  if (is(requestedBy.person) || is(actingFor)) return 'requester'
  const owners = agents.get(agentId)?.owners ?? []
  if (owners.some(({ type, id, email }) => type === 'user' && (is(id) || is(email)))) return 'owner'
  return isNamed(vote) ? null : 'unnamed'
}
