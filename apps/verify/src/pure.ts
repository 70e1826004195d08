/**
 * The keys, notes, entries and proofs of docs/ledger-format.md without `node:`, for the command and for browsers.
 * The caller passes SHA-256 and verifies Ed25519 signatures, which browsers do asynchronously.
 */

type Bytes = Uint8Array<ArrayBuffer>
export type Sha256 = (bytes: Bytes) => Bytes | Promise<Bytes>

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** Decodes standard base64 in its one exact form: RFC 4648 section 4. */
function base64(text: string): Bytes | null {
  try {
    const binary = atob(text)
    return btoa(binary) === text ? Uint8Array.from(binary, (one) => one.charCodeAt(0)) : null
  } catch {
    return null
  }
}

function joined(...parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** One entry: sections 1 and 2. Salt and payload are null after an erasure. */
export interface EntryText {
  readonly seq: number
  readonly recorded_at: string
  readonly kind: string
  readonly prev_hash: string
  readonly commitment: string
  readonly hash: string
  readonly salt: string | null
  readonly payload: string | null
}

/** The seven lines of a header. */
export const headerOf = (
  orgId: string,
  { seq, prev_hash, recorded_at, kind, commitment }: Omit<EntryText, 'hash' | 'salt' | 'payload'>,
): string =>
  `ledger-entry/v1\n${orgId}\n${seq}\n${prev_hash}\n${recorded_at}\n${kind}\n${commitment}\n`

/** The text whose hash is the leaf of an entry, in hexadecimal its `hash`. */
export const leafText = (header: string): string => `\0${header}`

/** The text whose hash is the commitment to a payload. */
export const committedText = (salt: string, payload: string): string =>
  `ledger-payload/v1\n${salt}\n${payload}`

/** A verifier key as text: section 5. Whether its id belongs to it is the hash of `keyText`. */
export interface KeyText {
  readonly vkey: string
  readonly name: string
  /** Eight hexadecimal digits that distinguish keys of one name. */
  readonly id: string
  /** The 32 bytes of the Ed25519 key. */
  readonly bytes: Bytes
}

const ED25519 = 1

/** Parses `<name>+<key id>+<base64 of 01 ‖ public key>`; null for any other text. */
export function parseKey(vkey: string): KeyText | null {
  const [, name = '', id = '', encoded = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(vkey) ?? []
  const bytes = base64(encoded)
  if (!isName(name) || bytes?.length !== 33 || bytes[0] !== ED25519) return null
  return { vkey, name, id, bytes: bytes.slice(1) }
}

/** The bytes whose hash begins with the id of a key. */
export const keyText = ({ name, bytes }: KeyText): Bytes =>
  joined(utf8(`${name}\n`), Uint8Array.of(ED25519), bytes)

const isName = (name: string): boolean => name !== '' && !/[\s+\u0000-\u001f\u0085]/.test(name)

interface Note {
  /** The signed text: up to the last empty line, with the newline before it. */
  readonly text: string
  readonly signatures: readonly { readonly signer: string; readonly bytes: Bytes }[]
}

const MAX_NOTE = 1_000_000
const MAX_SIGNATURES = 100

/** Splits a signed note without checking signatures. Null for any other text. */
function parseNote(note: string): Note | null {
  const text = note.slice(0, note.lastIndexOf('\n\n') + 1)
  const lines = note.slice(text.length + 1, -1).split('\n')
  const plain = note.isWellFormed() && !/[\u0000-\u0009\u000b-\u001f]/.test(note)
  if (text === '' || !plain || !note.endsWith('\n') || note.length > MAX_NOTE) return null
  if (lines.length > MAX_SIGNATURES) return null
  const signatures: { signer: string; bytes: Bytes }[] = []
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
 * The signatures of a note under the name and id of a key, and the bytes that they sign. None is verified, those of
 * other keys are left out. None for an invalid note.
 */
export function signaturesOf(
  note: string,
  { name, id }: Pick<KeyText, 'name' | 'id'>,
): { readonly text: Bytes; readonly signatures: readonly Bytes[] } {
  const { text, signatures } = parseNote(note) ?? { text: '', signatures: [] }
  const own = signatures.filter(
    ({ signer, bytes }) => signer === name && toHex(bytes.slice(0, 4)) === id,
  )
  return { text: utf8(text), signatures: own.map(({ bytes }) => bytes.slice(4)) }
}

/** The content of a checkpoint, before its signatures are checked. */
export interface Checkpoint {
  readonly note: string
  readonly origin: string
  readonly size: number
  /** The root as base64. */
  readonly root: string
}

const NUMBER = /^(?:0|[1-9]\d{0,15})$/
const toNumber = (digits: string): number => (NUMBER.test(digits) ? Number(digits) : Number.NaN)

/**
 * Parses a whole note as a checkpoint: origin, size, root, one per line, an empty line, signatures.
 * Null for any other text.
 */
export function readCheckpoint(note: string): Checkpoint | null {
  const lines = (parseNote(note)?.text ?? '').split('\n')
  const [origin = '', digits = '', root = ''] = lines
  // Further lines may follow the root and are ignored; none of them is empty.
  if (lines.length < 4 || lines.pop() !== '' || lines.includes('')) return null
  const size = toNumber(digits)
  if (!Number.isSafeInteger(size) || base64(root)?.length !== 32) return null
  return { note, origin, size, root }
}

/** A C2SP tlog-proof. */
export interface Proof {
  readonly index: number
  readonly path: readonly Bytes[]
  readonly checkpoint: Checkpoint
}

/** Parses a proof with its checkpoint; null for any other text. */
export function readProof(file: string): Proof | null {
  const end = file.indexOf('\n\n')
  const [version, line = '', ...hashes] = file.slice(0, Math.max(0, end)).split('\n')
  const index = toNumber(/^index (\S+)$/.exec(line)?.[1] ?? '')
  const path = readPath(hashes)
  const checkpoint = readCheckpoint(file.slice(end + 2))
  const isProof = version === 'c2sp.org/tlog-proof@v1' && Number.isSafeInteger(index)
  return isProof && path && checkpoint ? { index, path, checkpoint } : null
}

/** Parses the hashes of a proof, base64 each; null unless all are. */
export function readPath(hashes: readonly string[]): Bytes[] | null {
  const path = hashes.map(base64).filter((hash) => hash?.length === 32)
  return path.length === hashes.length ? (path as Bytes[]) : null
}

const nodeHash = async (left: Bytes, right: Bytes, sha256: Sha256): Promise<Bytes> =>
  sha256(joined(Uint8Array.of(1), left, right))

/**
 * Joins the nodes of a path on the way from node `at` of a level up to the root; `last` is the last node of the level.
 * False for a path of a wrong length: RFC 9162, 2.1.3.2 and 2.1.4.2.
 */
async function climb(
  at: number,
  last: number,
  path: readonly Bytes[],
  join: (sibling: Bytes, isLeft: boolean) => Promise<void>,
): Promise<boolean> {
  let [node, end] = [at, last]
  for (const sibling of path) {
    if (end === 0) return false
    const isLeft = node % 2 === 1 || node === end
    await join(sibling, isLeft)
    // A last node without a sibling is a node of the levels above, too.
    if (isLeft)
      while (node % 2 === 0 && node !== 0) {
        node /= 2
        end = Math.floor(end / 2)
      }
    node = Math.floor(node / 2)
    end = Math.floor(end / 2)
  }
  return end === 0
}

/** The root in base64 that an inclusion path leads to, null for a path of a wrong length. */
export async function rootOfInclusion(
  index: number,
  size: number,
  leaf: Bytes,
  path: readonly Bytes[],
  sha256: Sha256,
): Promise<string | null> {
  if (index >= size) return null
  let hash = leaf
  const isWhole = await climb(index, size - 1, path, async (sibling, isLeft) => {
    hash = await (isLeft ? nodeHash(sibling, hash, sha256) : nodeHash(hash, sibling, sha256))
  })
  return isWhole ? toBase64(hash) : null
}

type Tree = Pick<Checkpoint, 'size' | 'root'>

/** Returns true if the tree `to` begins with the tree `from`. */
export async function isConsistent(
  from: Tree,
  to: Tree,
  proof: readonly Bytes[],
  sha256: Sha256,
): Promise<boolean> {
  if (from.size > to.size || from.size === 0) return false
  if (from.size === to.size) return proof.length === 0 && from.root === to.root
  let [at, last] = [from.size - 1, to.size - 1]
  while (at % 2 === 1) {
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  // The proof of a size that is a power of two begins with the old root, and leaves it out.
  const [first, ...path] = at === 0 ? [base64(from.root), ...proof] : proof
  if (!first) return false
  let [old, grown] = [first, first]
  const isWhole = await climb(at, last, path as Bytes[], async (sibling, isLeft) => {
    if (isLeft) old = await nodeHash(sibling, old, sha256)
    grown = await (isLeft ? nodeHash(sibling, grown, sha256) : nodeHash(grown, sibling, sha256))
  })
  return isWhole && toBase64(old) === from.root && toBase64(grown) === to.root
}
