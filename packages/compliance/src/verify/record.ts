import type { LedgerVerification } from '@remit/contract'
import { actorOf, Failure, firstOf, personOf } from '@remit/core'
import type { Caller, Change, Deps, EntryDraft, Requester } from '@remit/core'
import type { Verification } from './answer.ts'

/**
 * The entry that tells of a verification. What looked at a part only is not `valid` there: it is no
 * verification of the ledger.
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
 * Records a verification and answers it. A ledger that is too broken to be written to is answered for
 * all the same, and the answer says why nothing was recorded; a caller whose key ended meanwhile is not.
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
