import type { Actor, Approval } from '@remit/contract'
import type { AnyDatabase } from '@remit/core/db'
import { resourceText } from '@remit/core/decision'
import type { EntryData, EntryDraft, EntryKind } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { requestersOf, isReason } from './requirements.ts'
import type { Parties, Requirement, ApprovalVote } from './requirements.ts'
import { NOT_READ, readHolders } from './holders.ts'
import type { HoldersOf } from './holders.ts'
import { shownText } from './binding.ts'
import { statusAt } from './lifecycle.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'

export const requirementsOf = (row: ApprovalRequestRow): Requirement[] =>
  JSON.parse(row.requirements) as Requirement[]

export const votesOf = (row: ApprovalRequestRow): ApprovalVote[] =>
  JSON.parse(row.votes) as ApprovalVote[]

export const boundOf = (row: ApprovalRequestRow): string[] | null =>
  row.bound === null ? null : (JSON.parse(row.bound) as string[])

/** The parties of a request; `fourEyes` is the organization's setting. */
export const partiesOf = (
  row: ApprovalRequestRow,
  known: Pick<Parties, 'owners' | 'fourEyes' | 'holdersOf'>,
): Parties => ({
  agentId: row.agent_id,
  askers: requestersOf(row),
  actingFor: row.acting_for,
  ...known,
})

/** Like `readHolders`, if a requirement of some requests of one organization asks for it. */
export async function holdersFor(
  deps: Pick<Deps, 'offered'>,
  db: AnyDatabase,
  rows: readonly ApprovalRequestRow[],
): Promise<HoldersOf> {
  const one = rows.find((row) => requirementsOf(row).some((need) => need.separate_keys))
  return one ? readHolders(deps, db, one.org_id) : NOT_READ
}

/** The part of a request that every entry contains; its facts are only in the entry that opened it. */
function briefOf(row: ApprovalRequestRow, now: number) {
  const status = statusAt(row, now)
  return {
    id: row.id,
    status,
    agent_id: row.agent_id,
    action: row.action,
    binding_hash: row.binding_hash,
    binding_context: boundOf(row),
    requirements: requirementsOf(row),
    votes: votesOf(row),
    requested_by: {
      type: row.requester_type,
      id: row.requester_id,
      person: row.requester_person,
    },
    acting_for: row.acting_for,
    requested_at: row.requested_at,
    expires_at: row.expires_at,
    decided_at: row.decided_at,
    usable_until: row.usable_until,
    consumed_at: status === 'consumed' ? row.closed_at : null,
    closed_at: row.closed_at,
    decision_id: row.decision_id,
    consumed_by: row.consumed_by,
  }
}

/** A request in API form at a time, in milliseconds. */
export const wireApproval = (row: ApprovalRequestRow, now: number): Approval => ({
  ...briefOf(row, now),
  resource: row.resource === null ? null : (JSON.parse(row.resource) as Approval['resource']),
  context: JSON.parse(row.context) as Approval['context'],
  shown: shownText(row.binding),
  ...replacedIn(row.binding),
  comment_for_agent: commentForAgent(row),
})

/** Requests with replaced places are few: the text of the others is not parsed. */
function replacedIn(binding: string): Pick<Approval, 'replaced'> {
  if (!binding.includes('"replaced":[')) return {}
  const { replaced } = JSON.parse(binding) as Pick<Approval, 'replaced'>
  return replaced ? { replaced } : {}
}

/** The comments of a rejection. A rule that keeps them is not weakened by another one. */
export function commentForAgent(row: ApprovalRequestRow): string | null {
  const passesOn = requirementsOf(row).every((one) => one.comment_to_agent === true)
  if (row.status !== 'rejected' || !passesOn) return null
  const comments = votesOf(row).flatMap(({ decision, comment }) =>
    decision === 'reject' && comment !== null && isReason(comment) ? [shownText(comment)] : [],
  )
  return comments.length === 0 ? null : comments.join(' ')
}

export type ApprovalKind = Extract<EntryKind, `approval.${string}`>

/** The members of an entry beside the request. */
export type ApprovalMore<Kind extends ApprovalKind> = Omit<EntryData<Kind>, 'approval'>

/** The entry for an event of a request; the first one also contains its facts. */
export function approvalEntry<Kind extends ApprovalKind>(
  kind: Kind,
  row: ApprovalRequestRow,
  now: number,
  actor: Actor,
  more: ApprovalMore<Kind>,
): EntryDraft {
  const { resource, context } = wireApproval(row, now)
  const facts = kind === 'approval.requested' ? { context, resource } : {}
  const entry = {
    kind,
    actor,
    agent_id: row.agent_id,
    action: row.action,
    resource: resourceText(resource ?? undefined),
    data: { approval: { ...briefOf(row, now), ...facts }, ...more },
  }
  return entry as EntryDraft<ApprovalKind>
}
