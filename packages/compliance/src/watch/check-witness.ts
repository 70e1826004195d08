import { KeyServiceError } from '@remit/core/kms'
import type { Witness } from '@remit/core/kms'
import { unwitnessed } from '@remit/core/ledger/records'
import type { SavedCheckpoints } from './checkpoint-files.ts'

/** The saved checkpoints that lack the signature of the configured witness, and limits of this. */
export async function checkWitness(
  witness: Witness | undefined,
  origin: string,
  { anchors, unread }: SavedCheckpoints,
): Promise<Partial<Pick<SavedCheckpoints, 'unread'>> & { unwitnessed?: readonly string[] }> {
  if (witness === undefined || anchors.length === 0) return {}
  try {
    const missing = unwitnessed(anchors, await witness.vkey(origin))
    return missing === null ? { unread: [...unread, NONE] } : { unwitnessed: [...missing] }
  } catch (error) {
    if (!(error instanceof KeyServiceError)) throw error
    return { unread: [...unread, UNKNOWN] }
  }
}

const NONE = 'The signatures of the witness: it has signed none of the saved checkpoints.'
const UNKNOWN = 'The signatures of the witness: its service did not tell its key.'
