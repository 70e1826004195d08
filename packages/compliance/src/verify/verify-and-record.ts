import type { LedgerVerification, VerifyLedgerRequest } from '@remit/contract'
import { invalid } from '@remit/core/base'
import type { Requester } from '@remit/core/ledger/lanes'
import { isSignedByAny, parseExternalCheckpoint } from '@remit/core/ledger/proofs'
import type { Deps } from '@remit/core/module'
import type { Jobs, JobWatch } from '../jobs/jobs.ts'
import { verificationOf } from './verification.ts'
import { recordVerification } from './record.ts'

/** A verification request, with the requester's checkpoints. */
export interface VerificationRequest extends Omit<VerifyLedgerRequest, 'checkpoint'> {
  readonly checkpoints: readonly string[]
}

/**
 * Verifies a ledger and records the result. Throws `invalid_request` for a part beyond the end, and
 * for a checkpoint that is malformed, of another ledger, or signed by an unknown key: a mistake of
 * the caller must not be recorded as a finding.
 */
export async function verifyAndRecord(
  deps: Pick<Deps, 'ledger' | 'writer' | 'verifierKey'>,
  jobs: Jobs,
  orgId: string,
  { from_seq, to_seq, checkpoints }: VerificationRequest,
  requester: Requester,
  watch: JobWatch,
): Promise<LedgerVerification> {
  const options = {
    checkpoints: checkpoints.length === 0 ? [] : await notesOf(deps, orgId, checkpoints),
    ...(from_seq !== undefined && { fromSeq: from_seq }),
    ...(to_seq !== undefined && { toSeq: to_seq }),
  }
  const found = verificationOf(await jobs.verify(orgId, options, watch))
  const isWhole = from_seq === undefined && to_seq === undefined
  return recordVerification(deps.writer, orgId, requester, found, isWhole)
}

/** Parses the signed notes. The verification reports a ledger that does not record its origin. */
async function notesOf(
  { ledger, verifierKey }: Pick<Deps, 'ledger' | 'verifierKey'>,
  orgId: string,
  texts: readonly string[],
): Promise<string[]> {
  const origin = await ledger.recordedOrigin(orgId)
  const notes = texts.map((text) => noteOf(text, origin))
  if (origin === null) return notes
  const vkeys = [verifierKey(origin), ...(await ledger.namedKeys(orgId))]
  if (!notes.every((note) => isSignedByAny(note, vkeys)))
    throw invalid(
      'checkpoint',
      'is not signed by a key of this server or by a key that the ledger records: it was modified, or its key is no longer recorded; use `remit-verify` to compare it with a pinned key',
    )
  return notes
}

function noteOf(text: string, origin: string | null): string {
  const given = parseExternalCheckpoint(text)
  if (given === null)
    throw invalid(
      'checkpoint',
      'must be a signed checkpoint, as `GET /v1/ledger/checkpoint` returns it',
    )
  if (origin !== null && given.origin !== origin)
    throw invalid('checkpoint', `belongs to ${given.origin}, and this ledger is ${origin}`)
  return given.note
}
