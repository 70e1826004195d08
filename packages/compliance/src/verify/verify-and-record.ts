import type { LedgerVerification, VerifyLedgerRequest } from '@remit/contract'
import { invalid, readGivenCheckpoint } from '@remit/core'
import type { Deps, Requester } from '@remit/core'
import type { Jobs, JobWatch } from '../worker/jobs.ts'
import { verificationOf } from './answer.ts'
import { recordVerification } from './record.ts'

/** What somebody wants to have verified, with the checkpoints that he kept. */
export interface Asked extends Omit<VerifyLedgerRequest, 'checkpoint'> {
  readonly checkpoints: readonly string[]
}

/**
 * Verifies a ledger and records that. Throws `invalid_request` for a part beyond the end and for a
 * checkpoint that is none, or is of another ledger: what is recorded must not be the caller's mistake.
 */
export async function verifyAndRecord(
  { ledger, writer }: Pick<Deps, 'ledger' | 'writer'>,
  jobs: Jobs,
  orgId: string,
  { from_seq, to_seq, checkpoints }: Asked,
  requester: Requester,
  watch: JobWatch,
): Promise<LedgerVerification> {
  const origin = checkpoints.length === 0 ? null : await ledger.origin(orgId)
  const options = {
    checkpoints: checkpoints.map((text) => noteOf(text, origin)),
    ...(from_seq !== undefined && { fromSeq: from_seq }),
    ...(to_seq !== undefined && { toSeq: to_seq }),
  }
  const found = verificationOf(await jobs.verify(orgId, options, watch))
  const isWhole = from_seq === undefined && to_seq === undefined
  return recordVerification(writer, orgId, requester, found, isWhole)
}

/** The note as it was signed. Without an origin the ledger is gone, which the verification says. */
function noteOf(text: string, origin: string | null): string {
  const given = readGivenCheckpoint(text)
  if (given === null)
    throw invalid(
      'checkpoint',
      'must be a signed checkpoint, as `GET /v1/ledger/checkpoint` gives it',
    )
  if (origin !== null && given.origin !== origin)
    throw invalid('checkpoint', `is of ${given.origin}, and this ledger is ${origin}`)
  return given.note
}
