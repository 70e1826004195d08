import { readData } from '@remit/contract/entries'
import { fail, isoTime } from '@remit/core/base'
import type { LedgerScope } from '@remit/core/ledger/lanes'
import type { StoredEntry } from '@remit/core/ledger/proofs'
import type { Eraser } from '@remit/core/ledger/records'
import { contentOf } from '../base/erased-entry.ts'
import { isCoolingDown, statusAt } from './lifecycle.ts'
import { votesOf } from './request.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'
import { changeRequest, findRequest } from './store.ts'

/**
 * Erases an approval request when an entry about it is erased: it contains the facts of the
 * decision and the comments of approvers. An open request must be closed first.
 */
export const approvalEraser: Eraser = {
  async erase(entries, scope) {
    const ids = new Set(entries.flatMap((entry) => approvalIn(entry) ?? []))
    for (const id of ids) {
      const row = await findRequest(scope.tx, scope.orgId, id)
      if (row) await clear(row, scope)
    }
  },
}

function approvalIn(entry: StoredEntry): string | null {
  const { kind, data } = contentOf(entry) ?? {}
  if (kind !== 'authorization.decided' && !kind?.startsWith('approval.')) return null
  return readData('approval.requested', data).approval?.id ?? null
}

async function clear(row: ApprovalRequestRow, { tx, now, orgId }: LedgerScope): Promise<void> {
  const status = statusAt(row, now)
  if (status === 'pending' || status === 'approved' || isCoolingDown(row, now)) {
    const end = row.counts_until ?? isoTime(now)
    throw fail(
      'invalid_request',
      `The request ${row.id} is ${status} and takes effect until ${end}. Nothing was erased; close the request first, or wait`,
    )
  }
  const votes = votesOf(row).map((vote) => ({ ...vote, comment: null }))
  await changeRequest(tx, orgId, row.id, {
    context: '{}',
    resource: null,
    acting_for: null,
    binding: '',
    binding_hash: '',
    votes: JSON.stringify(votes),
  })
}
