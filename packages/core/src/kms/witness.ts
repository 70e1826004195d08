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
  /** Asks the service for its newest key; returns the verifier key for the checkpoints of an origin. */
  vkey(origin: string): Promise<string>
  /** Returns the note with the signature of the witness, never a note without it, and the key that signed. */
  cosign(note: string): Promise<{ readonly note: string; readonly vkey: string }>
}

/** A witness with a key of a key management service. */
export function createWitness(key: RemoteKey): Witness {
  /** The last one that the service told. */
  let known: Uint8Array | null = null
  const newest = async () => (known = await key.publicKey())
  return {
    vkey: async (origin) => formatVerifierKey(nameFor(origin), await newest()),
    async cosign(note) {
      const { body } = splitNote(note)
      const name = nameFor(body.split('\n', 1)[0] ?? '')
      const signature = await key.sign(Buffer.from(body, 'utf8'))
      const signedBy = (publicKey: Uint8Array) => {
        const vkey = formatVerifierKey(name, publicKey)
        const verifier = parseVerifierKey(vkey)
        if (!verifier.verify(body, signature)) return null
        return { note: cosignNote(note, verifier, signature), vkey }
      }
      // After a rotation in the service, it signs with a key that is not known here yet.
      const signed = (known && signedBy(known)) ?? signedBy(await newest())
      if (!signed)
        throw new KeyServiceError('the signature of the witness is not valid for its key')
      return signed
    },
  }
}

/** One name, and so one verifier key, for all ledgers of a host. */
const nameFor = (origin: string): string => `${origin.split('/', 1)[0]}/witness`
