import { createPublicKey, hash, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** A verifier key: docs/ledger-format.md section 5. */
export interface Key {
  readonly vkey: string
  readonly name: string
  /** Eight hexadecimal digits that distinguish keys of one name. */
  readonly id: string
  readonly publicKey: KeyObject
}

/** The content of a checkpoint, before its signatures are checked. */
export interface Checkpoint {
  readonly note: string
  readonly origin: string
  readonly size: number
  /** The root as base64. */
  readonly root: string
}

const ED25519 = 1
const MAX_NOTE = 1_000_000
const MAX_SIGNATURES = 100

/** Parses `<name>+<key id>+<base64 of 01 ‖ public key>`; null unless all three match. */
export function readKey(vkey: string): Key | null {
  const [, name = '', id, encoded = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(vkey) ?? []
  const bytes = base64(encoded)
  if (!isName(name) || bytes?.length !== 33 || bytes[0] !== ED25519) return null
  if (hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), bytes])).slice(0, 8) !== id)
    return null
  const x = bytes.subarray(1).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return { vkey, name, id, publicKey }
}

interface Parts {
  /** The signed text: up to the last empty line, with the newline before it. */
  readonly text: string
  readonly signatures: readonly { readonly signer: string; readonly bytes: Buffer }[]
}

/** Splits a signed note without checking signatures. Null for any other text. */
function partsOf(note: string): Parts | null {
  const text = note.slice(0, note.lastIndexOf('\n\n') + 1)
  const lines = note.slice(text.length + 1, -1).split('\n')
  const plain = note.isWellFormed() && !/[\u0000-\u0009\u000b-\u001f]/.test(note)
  if (text === '' || !plain || !note.endsWith('\n') || note.length > MAX_NOTE) return null
  if (lines.length > MAX_SIGNATURES) return null
  const signatures: { signer: string; bytes: Buffer }[] = []
  for (const line of lines) {
    const [dash, signer = '', encoded = '', ...rest] = line.split(' ')
    const bytes = base64(encoded)
    if (dash !== '—' || !isName(signer) || rest.length > 0 || !bytes || bytes.length < 5)
      return null
    signatures.push({ signer, bytes })
  }
  return { text, signatures }
}

/**
 * Parses a whole note as a checkpoint: origin, size, root, one per line, an empty line, signatures.
 * Null for any other text.
 */
export function readCheckpoint(note: string): Checkpoint | null {
  const lines = (partsOf(note)?.text ?? '').split('\n')
  const [origin = '', digits = '', root = ''] = lines
  // Further lines may follow the root and are ignored; none of them is empty.
  if (lines.length < 4 || lines.pop() !== '' || lines.includes('')) return null
  const size = /^(?:0|[1-9]\d{0,15})$/.test(digits) ? Number(digits) : Number.NaN
  if (!Number.isSafeInteger(size) || base64(root)?.length !== 32) return null
  return { note, origin, size, root }
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
export function isSignedBy(note: string, { name, id, publicKey }: Key): boolean {
  const parts = partsOf(note)
  if (parts === null) return false
  const mine = parts.signatures.filter(
    ({ signer, bytes }) => signer === name && bytes.toString('hex', 0, 4) === id,
  )
  const text = Buffer.from(parts.text)
  return (
    mine.length > 0 && mine.every(({ bytes }) => verify(null, text, publicKey, bytes.subarray(4)))
  )
}

const isName = (name: string): boolean => name !== '' && !/[\s+\u0000-\u001f\u0085]/.test(name)

/**
 * Decodes standard base64 in its one exact form (RFC 4648 section 4); Node ignores invalid
 * characters.
 */
function base64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}
