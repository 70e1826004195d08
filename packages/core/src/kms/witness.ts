import {
  cosignNote,
  formatVerifierKey,
  parseVerifierKey,
  splitNote,
} from '../ledger/format/note.ts'
import { KeyServiceError } from './service.ts'
import type { RemoteKey } from './service.ts'

/**
 * A second signer of checkpoints that go outside the database. Its key is elsewhere, so a thief of the
 * ledger's key cannot rewrite what it has signed. Rejects with `KeyServiceError`.
 */
export interface Witness {
  /** The verifier key for the checkpoints of an origin. */
  vkey(origin: string): Promise<string>
  /** Returns the note with the signature of the witness; never a note without it. */
  cosign(note: string): Promise<string>
}

/** A witness with a key of a key management service. */
export function createWitness(key: RemoteKey): Witness {
  let known: Promise<Uint8Array> | null = null
  const publicKey = () =>
    (known ??= key.publicKey().catch((error: unknown) => {
      known = null
      throw error
    }))
  const vkey = async (origin: string) => formatVerifierKey(nameFor(origin), await publicKey())
  return {
    vkey,
    async cosign(note) {
      const { body } = splitNote(note)
      const verifier = parseVerifierKey(await vkey(body.split('\n', 1)[0] ?? ''))
      const signature = await key.sign(Buffer.from(body, 'utf8'))
      if (!verifier.verify(body, signature))
        throw new KeyServiceError('the signature of the witness is not valid for its key')
      return cosignNote(note, verifier, signature)
    },
  }
}

/** One name, and so one verifier key, for all ledgers of a host. */
const nameFor = (origin: string): string => `${origin.split('/', 1)[0]}/witness`
