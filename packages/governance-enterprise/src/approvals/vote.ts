import type { ApprovalDecision, OrganizationSettings } from '@remit/contract'
import { foldName } from '@remit/contract/values'
import { fail, invalid } from '@remit/core/base'
import type { Caller, KeyPrincipal, PersonPrincipal } from '@remit/core/caller'
import type { AnyDatabase } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { ownersReader } from '../agents/agents.ts'
import {
  requestersOf,
  isKeyOf,
  isReason,
  isSameVoter,
  objection,
  outcomeOf,
} from './requirements.ts'
import type { Parties, ApprovalVote, Voter } from './requirements.ts'
import { statusAt } from './lifecycle.ts'
import { holdersFor, partiesOf, requirementsOf, votesOf } from './request.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'

export type VoteSettings = Pick<OrganizationSettings, 'four_eyes' | 'require_separate_keys'>

/** A principal that can decide: an agent's credential never can. */
export type VotingPrincipal = KeyPrincipal | PersonPrincipal

/** Finds all names of a person by one of them; null for an unknown person. */
export type FindNames = (name: string) => Promise<readonly string[] | null>

/** The voter of a key or session. Throws if the given approver contradicts it. */
export async function voterOf(
  principal: VotingPrincipal,
  approver: string | undefined,
  find: FindNames,
): Promise<Voter> {
  const { id, person, role, type } = principal
  if (person !== null) {
    const known = await find(type === 'person' ? id : person)
    const names = [...(known ?? []), person]
    if (approver !== undefined && !names.some((name) => foldName(name) === foldName(approver)))
      throw invalid('approver', `must be ${person}, the person of the ${type}, or omitted`)
    const identity = type === 'person' ? id : known?.[0]
    return identity === undefined
      ? { type: 'person', id: person, named: true, role, key_id: id }
      : { type: 'person', id: identity, email: person, named: true, role, names, key_id: id }
  }
  if (approver === undefined) return { type: 'key', id, named: false, role, key_id: id }
  if (approver.startsWith('key_')) throw invalid('approver', 'must name a person, not a key')
  return {
    type: 'person',
    id: approver,
    named: false,
    role,
    names: (await find(approver)) ?? [],
    key_id: id,
  }
}

/** Reads who has part in a request, and all names of its voters. */
export interface People {
  /** Returns a reader of the parties of some requests of one organization; `fourEyes` is its setting. */
  parties(
    db: AnyDatabase,
    rows: readonly ApprovalRequestRow[],
    fourEyes: boolean,
  ): Promise<(row: ApprovalRequestRow) => Parties>
  finder(db: AnyDatabase, orgId: string): FindNames
}

/** The people of the registries; without a registry of people, each name is a person. */
export const peopleOf = (deps: Pick<Deps, 'offered'>): People => ({
  async parties(db, rows, fourEyes) {
    const holdersOf = await holdersFor(deps, db, rows)
    const read = ownersReader(deps)
    const owners = new Map<string, readonly string[]>()
    for (const { org_id: orgId, agent_id: agentId } of rows)
      if (!owners.has(agentId)) owners.set(agentId, await read(db, orgId, agentId))
    return (row) => partiesOf(row, { owners: owners.get(row.agent_id) ?? [], fourEyes, holdersOf })
  },
  finder: (db, orgId) => async (name) =>
    (await deps.offered('people')?.namesOf(db, orgId, name)) ?? null,
})

/** The deciding key or person; refuses those that the agent could control. */
export function admitKey(
  { principal }: Caller,
  row: ApprovalRequestRow | null,
  { four_eyes: fourEyes, require_separate_keys: apart }: VoteSettings,
): VotingPrincipal {
  // A rule of the API, before roles and scopes: a credential acts for an agent.
  if (principal.type === 'credential') throw fail('principal_not_allowed')
  if (apart && principal.role !== 'approver')
    throw fail('role_required', 'The organization requires the role approver')
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
  { now, at }: { readonly now: number; readonly at: string },
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
  const { type, id, email, named, role, key_id } = voter
  const approver = { type, id, ...(email !== undefined && { email }), named }
  const vote = { approver, role, key_id, decision, comment, at }
  const votes = [...before, vote]
  return { vote, votes, outcome: outcomeOf(requirements, votes, parties) }
}

/** Returns the reason why a voter cannot decide a request now; null if they can. */
export function whyNot(
  row: ApprovalRequestRow,
  parties: Parties,
  voter: Voter,
  now: number,
): string | null {
  const status = statusAt(row, now)
  if (status !== 'pending') return `The request is ${status}`
  const own = votesOf(row).find((one) => isSameVoter(one.approver, voter))
  if (own) return `You have voted to ${own.decision} the request`
  const objections = requirementsOf(row).map((one) => objection(one, voter, parties))
  return objections.every((one) => one !== null) ? (objections[0] ?? null) : null
}
