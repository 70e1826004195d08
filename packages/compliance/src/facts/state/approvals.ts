import type { FactEntry } from '../entry.ts'
import { isTrueIn, recordIn, recordsIn, textIn, timeIn } from '../recorded-json.ts'
import type { RecordedJson } from '../recorded-json.ts'
import type { Reducer, Reducers } from './reducer.ts'
import type { FactState } from './state.ts'

/** An approval request, reduced to the fields that metrics read. */
export interface ApprovalState {
  readonly id: string
  readonly agentId: string
  readonly action: string
  readonly resource: string | null
  /** As recorded; `approvalAt` also considers expiry. */
  readonly status: string
  readonly seq: number
  readonly requestedAt: number
  /** The end of the wait for approval, and the end of the approval's use; milliseconds. */
  readonly expiresAt: number | null
  readonly usableUntil: number | null
  readonly decidedAt: number | null
  /** The rules that require the approval. */
  readonly rules: readonly string[]
  /** The key or person who asked, the address, and the person for whom the agent acts. */
  readonly requesters: readonly (string | null)[]
  /** At least one approver is a person named by the key or session. */
  readonly personApproved: boolean
  /** The decision that opened it. */
  readonly decisionId: string | null
}

/** A vote as it was recorded. */
export interface VoteFacts {
  readonly decision: string
  /** `person` or `key`. */
  readonly type: string
  readonly id: string
  /** The address of a known person. */
  readonly email: string | null
  /** The session or the key itself names the person. */
  readonly named: boolean
  /** The key, or the person of the session. */
  readonly keyId: string | null
}

/** The status at a time, milliseconds: `expired` after its end, recorded or not. */
export function approvalAt(
  { status, expiresAt, usableUntil }: ApprovalState,
  time: number,
): string {
  if (status === 'pending') return expiresAt !== null && time < expiresAt ? status : 'expired'
  if (status === 'approved') return usableUntil !== null && time < usableUntil ? status : 'expired'
  return status
}

export function voteOf(object: RecordedJson): VoteFacts {
  const approver = recordIn(object, 'approver') ?? {}
  return {
    decision: textIn(object, 'decision') ?? '',
    type: textIn(approver, 'type') ?? '',
    id: textIn(approver, 'id') ?? '',
    email: textIn(approver, 'email'),
    named: isTrueIn(approver, 'named'),
    keyId: textIn(object, 'key_id'),
  }
}

/** The request in an `approval.*` entry; null if it contains none. */
export function approvalOf(entry: FactEntry): ApprovalState | null {
  const object = recordIn(entry.data, 'approval')
  const id = object && textIn(object, 'id')
  if (!object || id === null) return null
  const by = recordIn(object, 'requested_by') ?? {}
  return {
    id,
    agentId: textIn(object, 'agent_id') ?? '',
    action: textIn(object, 'action') ?? '',
    resource: entry.resource,
    status: textIn(object, 'status') ?? '',
    seq: entry.seq,
    requestedAt: timeIn(object, 'requested_at') ?? entry.time,
    expiresAt: timeIn(object, 'expires_at'),
    usableUntil: timeIn(object, 'usable_until'),
    decidedAt: timeIn(object, 'decided_at'),
    rules: recordsIn(object, 'requirements').flatMap((one) => textIn(one, 'rule_id') ?? []),
    requesters: [textIn(by, 'id'), textIn(by, 'person'), textIn(object, 'acting_for')],
    personApproved: recordsIn(object, 'votes')
      .map(voteOf)
      .some(({ decision, type, named }) => decision === 'approve' && type === 'person' && named),
    decisionId: textIn(object, 'decision_id'),
  }
}

const keep: Reducer = (state, entry) => {
  const approval = approvalOf(entry)
  if (!approval) return
  const before = state.approvals.get(approval.id)
  state.approvals.set(approval.id, before ? { ...approval, seq: before.seq } : approval)
}

/** Requests closed before the period are irrelevant: no allow can rely on them. */
const close: Reducer = (state: FactState, entry) => {
  if (entry.time >= state.keepClosedSince) return keep(state, entry)
  const approval = approvalOf(entry)
  if (approval) state.approvals.delete(approval.id)
}

const decide: Reducer = (state, entry) => {
  const isRejected = approvalOf(entry)?.status === 'rejected'
  return isRejected ? close(state, entry) : keep(state, entry)
}

export const approvalReducers: Reducers = {
  'approval.requested': keep,
  'approval.voted': keep,
  'approval.decided': decide,
  'approval.consumed': close,
  'approval.expired': close,
  'approval.cancelled': close,
  'approval.revoked': close,
}
