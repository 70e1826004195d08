import { foldName } from '@remit/contract'
import type { ApprovalDecision, OrganizationSettings } from '@remit/contract'
import { fail, invalid } from '@remit/core'
import type { Caller, KeyPrincipal } from '@remit/core'
import { requestersOf } from './requesters.ts'
import { statusAt } from './lifecycle.ts'
import { requirementsOf, votesOf } from './request.ts'
import { isKeyOf, isReason, isSameVoter, objection, outcomeOf } from './requirements.ts'
import type { Parties, ApprovalVote, Voter } from './requirements.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'

export type VoteSettings = Pick<OrganizationSettings, 'four_eyes' | 'require_separate_keys'>

/** The voter of a key. Throws if the given approver contradicts the key. */
export function voterOf({ id, person, role }: KeyPrincipal, approver: string | undefined): Voter {
  if (person !== null) {
    if (approver !== undefined && foldName(approver) !== foldName(person))
      throw invalid('approver', `must be ${person}, the person of the key, or omitted`)
    return { type: 'person', id: person, named: true, role }
  }
  if (approver === undefined) return { type: 'key', id, named: false, role }
  if (approver.startsWith('key_')) throw invalid('approver', 'must name a person, not a key')
  return { type: 'person', id: approver, named: false, role }
}

/** The deciding key; refuses keys that the agent could control. */
export function admitKey(
  { principal }: Caller,
  row: ApprovalRequestRow | null,
  { four_eyes: fourEyes, require_separate_keys: apart }: VoteSettings,
): KeyPrincipal {
  // A rule of the API, before roles and scopes: a principal other than a key acts for an agent.
  if (principal.type !== 'key') throw fail('principal_not_allowed')
  if (apart && principal.role !== 'approver')
    throw fail('role_required', 'The organization requires a key with the role approver')
  if (fourEyes && row && isKeyOf(requestersOf(row), principal.id))
    throw fail('approver_not_eligible', 'The key that made the request cannot decide it')
  return principal
}

/** Adds a vote and returns the result; null if the voter has already given the same vote. */
export function castVote(
  row: ApprovalRequestRow,
  parties: Parties,
  voter: Voter,
  {
    decision,
    comment = null,
  }: Omit<ApprovalDecision, 'comment'> & { comment?: string | null | undefined },
  { keyId, now, at }: { readonly keyId: string; readonly now: number; readonly at: string },
): { vote: ApprovalVote; votes: ApprovalVote[]; outcome: ReturnType<typeof outcomeOf> } | null {
  const before = votesOf(row)
  const own = before.find((one) => isSameVoter(one.approver, voter))
  if (own?.decision === decision) return null
  const status = statusAt(row, now)
  if (status !== 'pending') throw fail('approval_closed', `The request is ${status}`)
  if (own)
    throw fail('already_voted', `${voter.id} has already voted to ${own.decision} the request`)
  const requirements = requirementsOf(row)
  const objections = requirements.map((one) => objection(one, voter, parties))
  const open = requirements.filter((_, i) => objections[i] === null)
  if (open.length === 0) throw fail('approver_not_eligible', objections[0] ?? undefined)
  const wants = open.find((one) => one.reason_required)
  if (wants && !isReason(comment))
    throw invalid(
      'comment',
      `is required by the rule ${wants.rule_id} and must contain a visible character`,
    )
  const { type, id, named, role } = voter
  const vote = { approver: { type, id, named }, role, key_id: keyId, decision, comment, at }
  const votes = [...before, vote]
  return { vote, votes, outcome: outcomeOf(requirements, votes, parties) }
}
