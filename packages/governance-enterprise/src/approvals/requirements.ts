import { foldName, hasVisibleCharacter } from '@remit/contract'
import type { Asker } from './askers.ts'

/** What one rule asks of a request, as it was when the request was opened. */
export interface Requirement {
  readonly rule_id: string
  readonly description: string | null
  /** Different people who must approve, and how many rejections end it. */
  readonly required: number
  readonly required_rejections: number
  /** Who may vote; null is everybody whose key may decide. */
  readonly approvers: Approvers | null
  readonly prevent_self_approval: boolean
  readonly reason_required: boolean
}

export interface Approvers {
  readonly users: string[]
  /** Roles of keys. */
  readonly roles: string[]
}

/** Who votes: the person that the key names, one that the request names without proof, or the key. */
export interface Voter {
  readonly type: 'person' | 'key'
  readonly id: string
  /** The key itself names the person. */
  readonly named: boolean
  /** Role of the key. */
  readonly role: string
}

export interface Vote {
  readonly approver: Pick<Voter, 'type' | 'id' | 'named'>
  readonly role: string
  readonly key_id: string
  readonly decision: 'approve' | 'reject'
  readonly comment: string | null
  readonly at: string
}

/** Those who may not decide about their own request. */
export interface Parties {
  readonly agentId: string
  readonly askers: readonly Asker[]
  /** Whether the votes of keys that asked count for nothing. */
  readonly fourEyes: boolean
  readonly actingFor: string | null
  /** Names of the people who own the agent. */
  readonly owners: readonly string[]
}

/** Whether a comment gives a reason: one that nobody can see gives none. */
export const isReason = (comment: string | null): boolean =>
  comment !== null && hasVisibleCharacter(comment)

export const isSameVoter = (
  a: Pick<Voter, 'type' | 'id'>,
  b: Pick<Voter, 'type' | 'id'>,
): boolean => a.type === b.type && foldName(a.id) === foldName(b.id)

/** Why somebody's vote does not count for a requirement; null when it does. */
export function objection(
  { approvers, prevent_self_approval: apart }: Requirement,
  voter: Voter,
  { agentId, askers, actingFor, owners }: Parties,
): string | null {
  const is = (name: string | null) =>
    name !== null && voter.type === 'person' && foldName(voter.id) === foldName(name)
  if (is(agentId)) return 'An agent cannot decide its own request'
  if (apart && askers.some(({ person }) => is(person))) return 'The requester cannot decide'
  if (apart && is(actingFor)) return 'The person the agent acts for cannot decide'
  if (apart && owners.some(is)) return 'An owner of the agent cannot decide'
  return approvers === null || isListed(approvers, voter)
    ? null
    : 'The approver is not eligible under the approval rule'
}

/** Whether a key is one of those that asked. */
export const isKeyOf = (askers: readonly Asker[], keyId: string): boolean =>
  askers.some(({ key_id: id }) => id === keyId)

const isListed = ({ users, roles }: Approvers, { id, role }: Voter): boolean =>
  roles.includes(role) || users.some((user) => foldName(user) === foldName(id))

/** Votes of the kind that count for a requirement; a voter has one vote, so each is somebody else's. */
function count(
  requirement: Requirement,
  votes: readonly Vote[],
  parties: Parties,
  decision: Vote['decision'],
): number {
  return votes.filter(
    (vote) =>
      vote.decision === decision &&
      (isReason(vote.comment) || !requirement.reason_required) &&
      !(parties.fourEyes && isKeyOf(parties.askers, vote.key_id)) &&
      objection(requirement, { ...vote.approver, role: vote.role }, parties) === null,
  ).length
}

/** What the votes amount to: one requirement can reject, all of them must approve. */
export function outcomeOf(
  requirements: readonly Requirement[],
  votes: readonly Vote[],
  parties: Parties,
): 'pending' | 'approved' | 'rejected' {
  const has = (one: Requirement, decision: Vote['decision']) => count(one, votes, parties, decision)
  if (requirements.some((one) => has(one, 'reject') >= one.required_rejections)) return 'rejected'
  return requirements.every((one) => has(one, 'approve') >= one.required) ? 'approved' : 'pending'
}

/**
 * Whether what was approved covers what the rules ask today: each of today's rules was among those
 * that were asked, and the votes of then suffice for it as it is now.
 */
export const covers = (
  approved: readonly Requirement[],
  votes: readonly Vote[],
  parties: Parties,
  today: readonly Requirement[],
): boolean =>
  today.every(
    (one) =>
      approved.some((then) => then.rule_id === one.rule_id) &&
      count(one, votes, parties, 'approve') >= one.required,
  )
