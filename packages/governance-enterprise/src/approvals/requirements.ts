import { foldName, hasVisibleCharacter } from '@remit/contract/values'
import type { Ask } from '@remit/core/decision'
import type { ApprovalRequestRow } from '../tables/approvals.ts'
import { mayBeOne, mayUse } from './holders.ts'
import type { HoldersOf } from './holders.ts'

/** The requirement of one rule, as it was when the request was opened. */
export interface Requirement {
  readonly rule_id: string
  readonly description: string | null
  /** The number of different people who must approve, and the number of rejections that end it. */
  readonly required: number
  readonly required_rejections: number
  /** The eligible voters; null allows every key that can decide. */
  readonly approvers: Approvers | null
  readonly prevent_self_approval: boolean
  readonly reason_required: boolean
  /** True: the agent reads the comments of a rejection. */
  readonly comment_to_agent?: boolean
  /** True: no key that a requester may use decides the request. */
  readonly separate_keys?: boolean
  /** True: the rule matched only because its condition could not be evaluated. */
  readonly condition_failed?: boolean
}

export interface Approvers {
  readonly users: string[]
  /** Roles of keys and people. */
  readonly roles: string[]
}

/**
 * The voter: a person who has signed in, the person of the key, a person whom the request names
 * without proof, or the key.
 */
export interface Voter {
  readonly type: 'person' | 'key'
  readonly id: string
  /** Verified address of a known person. */
  readonly email?: string
  /** The session or the key itself names the person. */
  readonly named: boolean
  /** Role of the person or key. */
  readonly role: string
  /** The key, or the person who has signed in. */
  readonly key_id: string
  /** Further names of the person, such as earlier addresses. */
  readonly names?: readonly string[]
}

export interface ApprovalVote {
  readonly approver: Pick<Voter, 'type' | 'id' | 'email' | 'named'>
  readonly role: string
  readonly key_id: string
  readonly decision: 'approve' | 'reject'
  readonly comment: string | null
  readonly at: string
}

/** Those who cannot decide their own request. */
export interface Parties {
  readonly agentId: string
  readonly askers: readonly ApprovalRequester[]
  /** True to ignore votes of requesting keys. */
  readonly fourEyes: boolean
  readonly actingFor: string | null
  /** Names of the people who own the agent. */
  readonly owners: readonly string[]
  readonly holdersOf: HoldersOf
}

/** Returns whether a comment has a visible character. */
export const isReason = (comment: string | null): boolean =>
  comment !== null && hasVisibleCharacter(comment)

type Named = Pick<Voter, 'type' | 'id' | 'email' | 'names'>

/** People of some providers have an empty address, which is no name. */
const namesOf = ({ id, email = '', names = [] }: Named): Set<string> =>
  new Set([id, email, ...names].filter((name) => name !== '').map(foldName))

/** Returns true if two voters are one key, or one person under any of their names. */
export function isSameVoter(a: Named, b: Named): boolean {
  const names = namesOf(b)
  return a.type === b.type && [...namesOf(a)].some((name) => names.has(name))
}

/** The reason why a vote does not count for a requirement; null if it does. */
export function objection(
  { rule_id: rule, approvers, prevent_self_approval: apart, separate_keys }: Requirement,
  voter: Voter,
  { agentId, askers, actingFor, owners, holdersOf }: Parties,
): string | null {
  const names = namesOf(voter)
  const is = (name: string | null) =>
    name !== null && voter.type === 'person' && names.has(foldName(name))
  if (is(agentId)) return 'An agent cannot decide its own request'
  if (apart && askers.some(({ person, key_id: id }) => is(person) || is(id)))
    return `The requester cannot decide under the rule ${rule}`
  const isAsker = ({ key_id: id }: ApprovalRequester) =>
    mayBeOne(id, voter.key_id, holdersOf) || mayUse(names, id, holdersOf)
  if (separate_keys && askers.some(isAsker))
    return `A requester may have access to this key, so its vote does not count under the rule ${rule}: keys of one person, or with a common creator, count as one`
  if (apart && is(actingFor))
    return `The person the agent acts for cannot decide under the rule ${rule}`
  if (apart && owners.some(is)) return `An owner of the agent cannot decide under the rule ${rule}`
  return approvers === null || isListed(approvers, voter)
    ? null
    : `The rule ${rule} lets only ${listed(approvers)} decide`
}

const SHOWN_APPROVERS = 10
const LIST = new Intl.ListFormat('en')

/** The approvers of a rule in words; the last names of many are left out. */
function listed({ users, roles }: Approvers): string {
  const names = [...users, ...roles.map((role) => `the role ${role}`)]
  const more = names.length - SHOWN_APPROVERS
  return LIST.format(more > 0 ? [...names.slice(0, SHOWN_APPROVERS), `${more} more`] : names)
}

export const isKeyOf = (askers: readonly ApprovalRequester[], keyId: string): boolean =>
  askers.some(({ key_id: id }) => id === keyId)

const isListed = ({ users, roles }: Approvers, voter: Voter): boolean => {
  const names = namesOf(voter)
  return roles.includes(voter.role) || users.some((user) => names.has(foldName(user)))
}

/** The votes that count for a requirement; each voter has one vote. */
function count(
  requirement: Requirement,
  votes: readonly ApprovalVote[],
  parties: Parties,
  decision: ApprovalVote['decision'],
): number {
  return votes.filter(
    (vote) =>
      vote.decision === decision &&
      (isReason(vote.comment) || !requirement.reason_required) &&
      !(parties.fourEyes && isKeyOf(parties.askers, vote.key_id)) &&
      objection(
        requirement,
        { ...vote.approver, role: vote.role, key_id: vote.key_id },
        parties,
      ) === null,
  ).length
}

/** The result of the votes: one requirement can reject, all must approve. */
export function outcomeOf(
  requirements: readonly Requirement[],
  votes: readonly ApprovalVote[],
  parties: Parties,
): 'pending' | 'approved' | 'rejected' {
  const has = (one: Requirement, decision: ApprovalVote['decision']) =>
    count(one, votes, parties, decision)
  if (requirements.some((one) => has(one, 'reject') >= one.required_rejections)) return 'rejected'
  return requirements.every((one) => has(one, 'approve') >= one.required) ? 'approved' : 'pending'
}

/**
 * Returns whether an approval satisfies the current rules: each of them was a requirement of it,
 * and its votes satisfy the rule as it is now.
 */
export const covers = (
  approved: readonly Requirement[],
  votes: readonly ApprovalVote[],
  parties: Parties,
  today: readonly Requirement[],
): boolean =>
  today.every(
    (one) =>
      approved.some((then) => then.rule_id === one.rule_id) &&
      count(one, votes, parties, 'approve') >= one.required,
  )

/** A key or person that requested an approval, and the address. */
export interface ApprovalRequester {
  /** Of the key, or of the person. */
  readonly key_id: string
  readonly person: string | null
}

/**
 * All keys that requested the approval: the first, and those that repeated the request while it was
 * pending.
 */
export const requestersOf = (row: ApprovalRequestRow): ApprovalRequester[] => [
  ...(row.requester_type === 'key' || row.requester_type === 'person'
    ? [{ key_id: row.requester_id, person: row.requester_person }]
    : []),
  ...(JSON.parse(row.further_askers) as ApprovalRequester[]),
]

/** The requesting key; null for an agent's own credential, which cannot decide. */
export const requesterOf = ({ caller }: Pick<Ask, 'caller'>): ApprovalRequester | null =>
  caller && caller.principal.type !== 'credential'
    ? { key_id: caller.principal.id, person: caller.principal.person }
    : null

/** The request with another requesting key; null if it already has it. */
export function withRequester(
  row: ApprovalRequestRow,
  asker: ApprovalRequester | null,
): ApprovalRequestRow | null {
  if (asker === null || requestersOf(row).some(({ key_id: id }) => id === asker.key_id)) return null
  const further = [...(JSON.parse(row.further_askers) as ApprovalRequester[]), asker]
  return { ...row, further_askers: JSON.stringify(further) }
}
