import type { Approval, ApprovalDecision } from '@remit/contract'
import { fail } from '@remit/core/base'
import { actorOf, isOwn, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { Change, Outcome, WriteContext } from '@remit/core/ledger/lanes'
import { settingsOf } from '@remit/core/orgs/settings'
import type { People } from './people.ts'
import { endOf, statusAt } from './lifecycle.ts'
import { approvalEntry, partiesOf, wireApproval } from './request.ts'
import type { ApprovalKind, ApprovalMore } from './request.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'
import { findRequest, moveRequest } from './store.ts'
import { admitKey, castVote, voterOf } from './vote.ts'

type Outcomes = Outcome<Approval>

/** A vote on a request, as work of the organization's writer. */
export const decideApproval =
  (people: People, id: string, decision: ApprovalDecision): Change<Approval> =>
  async (scope, caller) => {
    const admitted = keyOf(caller)
    const settings = await settingsIn(scope)
    admitKey(admitted, null, settings)
    const row = await requestIn(scope, id)
    const key = admitKey(admitted, row, settings)
    const { now, recordedAt, tx } = scope
    const owners = await people.owners(tx, row.org_id, row.agent_id)
    const by = { keyId: key.id, now, at: recordedAt }
    const parties = partiesOf(row, owners, settings.four_eyes)
    const voter = await voterOf(key, decision.approver, people.finder(tx, row.org_id))
    const counted = castVote(row, parties, voter, decision, by)
    if (counted === null) return unchanged(row, scope)
    const { vote, votes, outcome } = counted
    const text = JSON.stringify(votes)
    const moved = await moveRequest(tx, row, outcome, {
      votes: text,
      ...(outcome !== 'pending' && { decided_at: recordedAt }),
      ...(outcome === 'approved' && usableUntil(endOf(now, row.approval_ttl_seconds))),
      ...(outcome === 'rejected' && { counts_until: endOf(now, row.cooldown_seconds) }),
    })
    const kind = outcome === 'pending' ? 'approval.voted' : 'approval.decided'
    return changed(kind, moved, scope, admitted, { vote })
  }

/** Cancels a request by a requester; agents can cancel only their own. */
export const cancelApproval =
  (id: string): Change<Approval> =>
  async (scope, caller) => {
    const row = await requestIn(scope, id)
    if (!isOwn(caller, row.agent_id)) throw fail('approval_not_found')
    const status = statusAt(row, scope.now)
    if (status !== 'pending') throw fail('approval_closed', `The request is ${status}`)
    const moved = await moveRequest(scope.tx, row, 'cancelled', closedAt(scope))
    return changed('approval.cancelled', moved, scope, caller, {})
  }

/** Revokes an approval that was not used. */
export const revokeApproval =
  (id: string): Change<Approval> =>
  async (scope, caller) => {
    const row = await requestIn(scope, id)
    admitKey(keyOf(caller), null, { four_eyes: false, require_separate_keys: false })
    const status = statusAt(row, scope.now)
    if (status !== 'approved') throw fail('approval_not_usable', `The request is ${status}`)
    const moved = await moveRequest(scope.tx, row, 'revoked', closedAt(scope))
    return changed('approval.revoked', moved, scope, caller, {})
  }

const usableUntil = (end: string | null) => ({ usable_until: end, counts_until: end })

const closedAt = ({ recordedAt }: WriteContext) => ({ closed_at: recordedAt, counts_until: null })

function keyOf(caller: Caller | null): Caller {
  if (!caller) throw fail('role_required', 'Only a key or a person can decide an approval request')
  return caller
}

async function settingsIn({ tx, orgId }: WriteContext) {
  const organization = await tx
    .selectFrom('organization')
    .select('settings')
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow()
  return settingsOf(organization)
}

async function requestIn({ tx, orgId }: WriteContext, id: string): Promise<ApprovalRequestRow> {
  const row = await findRequest(tx, orgId, id)
  if (!row) throw fail('approval_not_found')
  return row
}

const unchanged = (row: ApprovalRequestRow, { now }: WriteContext): Outcomes => ({
  entries: [],
  reply: () => wireApproval(row, now),
})

function changed<Kind extends ApprovalKind>(
  kind: Kind,
  row: ApprovalRequestRow,
  { now }: WriteContext,
  caller: Caller | null,
  more: ApprovalMore<Kind>,
): Outcomes {
  const entry = approvalEntry(kind, row, now, actorOf(caller), { ...more, ...personOf(caller) })
  return {
    entries: [entry],
    reply: ([recorded]) => ({
      ...wireApproval(row, now),
      ...(recorded && { ledger: recorded.receipt }),
    }),
  }
}
