import type { LedgerVerification } from '@remit/contract'
import { Failure } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { firstOf } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, Requester } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import type { Verification } from './verification.ts'

/**
 * The entry of a verification. A partial one is not `valid` there, since it does not verify the
 * ledger.
 */
function verifiedEntry(found: Verification, isWhole: boolean, caller: Caller | null): EntryDraft {
  const { valid, status, checked, first_invalid, error_count, anchored_by, gaps, head } = found
  return {
    kind: 'ledger.verified',
    actor: actorOf(caller),
    data: {
      valid: valid && isWhole,
      part: !isWhole,
      status,
      checked,
      first_invalid,
      error_count,
      anchored_by,
      truncation_checked: found.truncation_checked,
      gaps,
      checkpoints: found.checkpoints,
      reports: found.reports,
      checkpoint: head,
      ...personOf(caller),
    },
  }
}

/**
 * Records a verification and returns it. If the ledger is too broken to be written to, the result
 * says why nothing was recorded; a caller whose key ended meanwhile gets no result.
 */
export async function recordVerification(
  writer: Deps['writer'],
  orgId: string,
  requester: Requester,
  found: Verification,
  isWhole: boolean,
): Promise<LedgerVerification> {
  try {
    const record: Change<LedgerVerification> = (_scope, at) =>
      Promise.resolve({
        entries: [verifiedEntry(found, isWhole, at)],
        reply: (recorded) => ({
          ...found,
          recorded: true,
          not_recorded: null,
          ledger: firstOf(recorded).receipt,
        }),
      })
    return await writer.work(orgId, requester, record, { evenIfForged: true })
  } catch (error) {
    if (error instanceof Failure && error.status < 500) throw error
    const why = error instanceof Failure ? error.message : 'The end of the ledger cannot be read.'
    return { ...found, recorded: false, not_recorded: why, ledger: null }
  }
}
