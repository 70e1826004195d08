import {
  createPublicKey,
  hash,
  sign,
  verify,
  createPrivateKey,
  generateKeyPairSync,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { readWholeFile } from '../../base/files.ts'
import { createSecretFile } from '../../secrets/secret-file.ts'
import { isHash } from './entry.ts'

/** The reason why a note or a key was rejected. The content of a rejected note must not be used. */
export class NoteError extends Error {
  readonly code: 'malformed' | 'bad_signature' | 'unverified' | 'bad_key'

  constructor(code: NoteError['code'], message: string) {
    super(message)
    this.name = 'NoteError'
    this.code = code
  }
}

export interface NoteVerifier {
  readonly name: string
  /** The published form of the public key: `<name>+<key id>+<base64 of type and key>`. */
  readonly vkey: string
  /**
   * The first four bytes of the key id hash, as 8 hex digits; distinguishes keys of the same name.
   */
  readonly keyHash: string
  /** Returns true if the 64 bytes are a signature of this key over the text. */
  verify(body: string, signature: Uint8Array): boolean
}

/** Verifies its own signatures too. */
export interface NoteSigner extends NoteVerifier {
  /** Returns the signed note over `body`, which must end in a newline. */
  sign(body: string): string
}

// C2SP signed-note, "Signature types": plain Ed25519. Other types are not supported on purpose.
const ED25519 = 1
const KEY_ID_BYTES = 4
const MAX_SIGNATURES = 100
const MAX_NOTE_LENGTH = 1_000_000

/**
 * Creates a signer of C2SP signed notes with an Ed25519 private key. Throws `NoteError` for other
 * keys.
 */
export function createNoteSigner(options: { name: string; privateKey: KeyObject }): NoteSigner {
  const { name, privateKey } = options
  const publicKey = createPublicKey(privateKey)
  const { x } = publicKey.export({ format: 'jwk' })
  if (privateKey.asymmetricKeyType !== 'ed25519' || x === undefined) {
    throw new NoteError('bad_key', 'The signing key must be an Ed25519 private key')
  }
  const key = Buffer.from(x, 'base64url')
  const vkey = formatVerifierKey(name, key)
  const keyHash = keyHashOf(name, key)
  const keyId = Buffer.from(keyHash, 'hex')
  return {
    name,
    vkey,
    keyHash,
    verify: verifyWith(publicKey),
    sign(body) {
      if (!body.endsWith('\n') || !isNoteText(body)) {
        throw new NoteError('malformed', 'A note must be plain text that ends with a newline')
      }
      const signature = sign(null, Buffer.from(body, 'utf8'), privateKey)
      const line = Buffer.concat([keyId, signature]).toString('base64')
      return `${body}\n— ${name} ${line}\n`
    },
  }
}

/** Returns the note with an additional signature of another key. Throws `NoteError`. */
export function addSignature(note: string, signer: NoteSigner): string {
  const { body } = splitNote(note)
  return note + signer.sign(body).slice(body.length + 1)
}

/** Returns the note with a signature that another key made over its text. */
export function cosignNote(
  note: string,
  { name, keyHash }: Pick<NoteVerifier, 'name' | 'keyHash'>,
  signature: Uint8Array,
): string {
  const line = Buffer.concat([Buffer.from(keyHash, 'hex'), signature]).toString('base64')
  return `${note}— ${name} ${line}\n`
}

/**
 * Returns the vkey text of a raw 32-byte Ed25519 public key. Throws `NoteError` for an invalid
 * name.
 */
export function formatVerifierKey(name: string, publicKey: Uint8Array): string {
  if (!isKeyName(name)) {
    throw new NoteError(
      'bad_key',
      `A key name must not contain spaces or a plus sign: ${JSON.stringify(name)}`,
    )
  }
  const encoded = Buffer.concat([Buffer.of(ED25519), publicKey]).toString('base64')
  return `${name}+${keyHashOf(name, publicKey)}+${encoded}`
}

/** Parses a vkey once; verifying with the result parses nothing. Throws `NoteError`. */
export function parseVerifierKey(vkey: string): NoteVerifier {
  const [, name = '', keyHash, encoded = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(vkey) ?? []
  const bytes = decodeBase64(encoded)
  if (!isKeyName(name) || bytes?.length !== 33 || bytes[0] !== ED25519) {
    throw new NoteError('bad_key', 'The text is not the verifier key of an Ed25519 note signer')
  }
  const raw = bytes.subarray(1)
  if (keyHash !== keyHashOf(name, raw)) {
    throw new NoteError('bad_key', 'The key id does not match the name and key')
  }
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  return { name, vkey, keyHash, verify: verifyWith(key) }
}

const verifyWith =
  (key: KeyObject): NoteVerifier['verify'] =>
  (body, signature) =>
    verify(null, Buffer.from(body, 'utf8'), key, signature)

export interface OpenedNote {
  /** The signed text, with its final newline. */
  readonly body: string
  /** Names of the given verifiers that signed it, in the order of the note. Never empty. */
  readonly verifiedBy: string[]
}

/**
 * Opens a C2SP signed note. Throws `NoteError` if it is malformed, if a signature of a given key is
 * invalid, or if no given key signed it. Other keys are ignored.
 */
export function verifyNote(note: string, verifiers: readonly NoteVerifier[]): OpenedNote {
  const { body, signatures } = splitNote(note)
  const verifiedBy = new Set<string>()
  for (const { name, bytes } of signatures) {
    const keyHash = bytes.toString('hex', 0, KEY_ID_BYTES)
    const known = verifiers.find((one) => one.name === name && one.keyHash === keyHash)
    if (!known) continue
    if (!known.verify(body, bytes.subarray(KEY_ID_BYTES))) {
      throw new NoteError('bad_signature', `The signature of ${name} is not valid for this text`)
    }
    verifiedBy.add(name)
  }
  if (verifiedBy.size === 0) {
    throw new NoteError('unverified', 'The note is not signed by any of the given keys')
  }
  return { body, verifiedBy: [...verifiedBy] }
}

export interface SplitNote {
  /** The signed text, with its final newline. */
  readonly body: string
  readonly signatures: readonly { readonly name: string; readonly bytes: Buffer }[]
}

/**
 * Splits a note into its parts without checking signatures. Throws `NoteError` for any other text.
 */
export function splitNote(note: string): SplitNote {
  // The text may contain empty lines; the last one separates it from the signatures.
  const end = note.lastIndexOf('\n\n') + 1
  if (end === 0 || !note.endsWith('\n') || note.length > MAX_NOTE_LENGTH || !isNoteText(note)) {
    throw new NoteError('malformed', 'The text is not a signed note')
  }
  const lines = note.slice(end + 1, -1).split('\n')
  if (lines.length > MAX_SIGNATURES) {
    throw new NoteError('malformed', `The note has more than ${MAX_SIGNATURES} signatures`)
  }
  const signatures = lines.map((line) => {
    const [dash, name = '', encoded = '', ...rest] = line.split(' ')
    const bytes = decodeBase64(encoded)
    if (dash !== '—' || !isKeyName(name) || rest.length > 0 || !bytes || bytes.length < 5) {
      throw new NoteError('malformed', 'A signature line of the note is malformed')
    }
    return { name, bytes }
  })
  return { body: note.slice(0, end), signatures }
}

function keyHashOf(name: string, publicKey: Uint8Array): string {
  const named = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), publicKey])
  return hash('sha256', named, 'hex').slice(0, 2 * KEY_ID_BYTES)
}

/** Returns true if the name is valid for a key (C2SP signed-note): no spaces, no plus. */
export function isKeyName(name: string): boolean {
  return name !== '' && !/[\s+\u0085]/u.test(name) && isNoteText(name)
}

function isNoteText(text: string): boolean {
  return text.isWellFormed() && !/[\u0000-\u0009\u000b-\u001f]/.test(text)
}

/**
 * Decodes standard base64 with padding (RFC 4648 section 4), or returns null. Node skips unknown
 * characters; signed text must have exactly one encoding.
 */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

/** Converts a hash from hex (as in the ledger) to base64 (as in C2SP formats). */
export function hexToBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

/**
 * Converts a SHA-256 hash from base64 to hex; null unless it is exactly 32 bytes in strict base64.
 */
export function hashFromBase64(text: string): string | null {
  const bytes = decodeBase64(text)
  return bytes?.length === 32 ? bytes.toString('hex') : null
}

/** Parses an ASCII decimal integer without leading zeros, up to 2^53 - 1; null otherwise. */
export function parseDecimal(text: string): number | null {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return null
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : null
}

/** Signs checkpoints: one private key, and one key name (the log's origin) per organization. */
export interface LedgerSigner {
  forOrigin(origin: string): NoteSigner
}

const MAX_SIGNERS = 1_000

/** Creates a signer with an Ed25519 private key. */
export function createLedgerSigner(privateKey: KeyObject): LedgerSigner {
  const signers = new LRUCache<string, NoteSigner>({ max: MAX_SIGNERS })
  return {
    forOrigin(origin) {
      let signer = signers.get(origin)
      if (!signer) {
        signer = createNoteSigner({ name: origin, privateKey })
        signers.set(origin, signer)
      }
      return signer
    },
  }
}

/** Generates an Ed25519 key as PKCS #8 PEM. */
export const generateLedgerKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/**
 * Reads the PEM key of a file. With `create`, creates a missing one (mode 0600), the same for all
 * processes that start concurrently. The key belongs outside the database, so that access to the
 * database is not enough to sign.
 */
export function loadLedgerKey(path: string, create: boolean): KeyObject {
  if (create && !existsSync(path)) createSecretFile(path, generateLedgerKey())
  const key = createPrivateKey(readWholeFile(path))
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${path} is not an Ed25519 private key`)
  return key
}

/** A statement of a log: its first `size` entries have this Merkle root. */
export interface Checkpoint {
  /** The log, e.g. `remit.example.com/ledger/org_acme/led_01`. */
  readonly origin: string
  /** Number of entries, so the last one has `seq` = `size - 1`. */
  readonly size: number
  /** Merkle root in hex (the text form has it in base64). */
  readonly root: string
}

/** A text that is not a checkpoint, or not one of the expected log. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError'
}

/** Returns the note text of a checkpoint (C2SP tlog-checkpoint). Throws `CheckpointError`. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  if (origin === '' || /[\u0000-\u001f]/.test(origin) || !origin.isWellFormed()) {
    throw new CheckpointError('The origin of a checkpoint must be one line of text')
  }
  if (!Number.isSafeInteger(size) || size < 0 || !isHash(root)) {
    throw new CheckpointError('A checkpoint must have a tree size and a root hash')
  }
  return `${origin}\n${size}\n${hexToBase64(root)}\n`
}

/**
 * Parses the note text of a checkpoint (C2SP tlog-checkpoint). Sizes above 2^53 - 1 are legal there
 * and rejected here, because no ledger can have them. Extension lines are returned without
 * interpretation. Throws `CheckpointError`.
 */
export function parseCheckpoint(body: string): Checkpoint & { readonly extensions: string[] } {
  const lines = body.split('\n')
  const [origin = '', sizeText = '', rootText = ''] = lines
  const extensions = lines.slice(3, -1)
  if (lines.length < 4 || lines.at(-1) !== '' || origin === '' || extensions.includes('')) {
    throw new CheckpointError('A checkpoint must have an origin, a size and a root, one per line')
  }
  const size = parseDecimal(sizeText)
  if (size === null) {
    throw new CheckpointError('The size of a checkpoint must be a whole number up to 2^53 - 1')
  }
  const root = hashFromBase64(rootText)
  if (root === null)
    throw new CheckpointError('The root of a checkpoint must be 32 bytes in base64')
  return { origin, size, root, extensions }
}

/**
 * Parses a note as a checkpoint, without checking its signatures. Null unless the text is exactly a
 * signed note with a checkpoint.
 */
export function readCheckpoint(note: unknown): Checkpoint | null {
  if (typeof note !== 'string') return null
  try {
    const { origin, size, root } = parseCheckpoint(splitNote(note).body)
    return { origin, size, root }
  } catch (error) {
    if (error instanceof NoteError || error instanceof CheckpointError) return null
    throw error
  }
}

/** Returns the number of entries of a checkpoint note; null for any other text. */
export const sizeOfNote = (note: unknown): number | null => readCheckpoint(note)?.size ?? null

/** Signs a checkpoint as a note. Throws `CheckpointError`. */
export function signCheckpoint(signer: NoteSigner, checkpoint: Checkpoint): string {
  return signer.sign(formatCheckpoint(checkpoint))
}

/**
 * Opens a signed checkpoint of a pinned key, and of a pinned origin if one is given. Throws
 * `NoteError` (signature) or `CheckpointError` (text); the returned checkpoint was signed by that
 * key.
 */
export function openCheckpoint(note: string, verifier: NoteVerifier, origin?: string): Checkpoint {
  const checkpoint = parseCheckpoint(verifyNote(note, [verifier]).body)
  if (origin !== undefined && checkpoint.origin !== origin) {
    throw new CheckpointError(
      `The checkpoint has the origin ${checkpoint.origin} instead of ${origin}`,
    )
  }
  return { origin: checkpoint.origin, size: checkpoint.size, root: checkpoint.root }
}
