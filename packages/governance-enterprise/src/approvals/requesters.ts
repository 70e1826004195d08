import type { Ask } from '@remit/core/decision'
import type { ApprovalRequestRow } from '../tables/approvals.ts'

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
