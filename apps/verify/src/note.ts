import { createPublicKey, hash, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { keyText, parseKey, readCheckpoint, signaturesOf } from './pure.ts'
import type { Checkpoint, KeyText } from './pure.ts'

/** A verifier key: docs/ledger-format.md section 5. */
export interface Key extends KeyText {
  readonly publicKey: KeyObject
}

/** Parses `<name>+<key id>+<base64 of 01 ‖ public key>`; null unless all three match. */
export function readKey(vkey: string): Key | null {
  const key = parseKey(vkey)
  if (key === null || hash('sha256', keyText(key)).slice(0, 8) !== key.id) return null
  const x = Buffer.from(key.bytes).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return { ...key, publicKey }
}

/**
 * Parses an external checkpoint. Shells drop the last newline, tools add one, mail and editors
 * write CRLF: the signed form is restored. Null for any other text.
 */
export const readKept = (text: string): Checkpoint | null =>
  readCheckpoint(`${text.replaceAll('\r\n', '\n').trimEnd()}\n`)

/**
 * Returns true if a note is signed by a key. Signatures of other keys are ignored; an invalid
 * signature under this key's name, or an invalid note, returns false.
 */
export function isSignedBy(note: string, key: Key): boolean {
  const { text, signatures } = signaturesOf(note, key)
  return signatures.length > 0 && signatures.every((one) => verify(null, text, key.publicKey, one))
}
