/**
 * Verification of one ledger entry, as docs/ledger-format.md specifies the bytes. It has no
 * dependencies and trusts nothing but the pinned key: every hash is computed here, over the text
 * that the server gave.
 */

export type Bytes = Uint8Array<ArrayBuffer>

export interface EntryText {
  readonly seq: number
  readonly kind: string
  readonly recorded_at: string
  readonly prev_hash: string
  readonly commitment: string
  readonly hash: string
  /** Null after an erasure. */
  readonly salt: string | null
  readonly payload: string | null
}

export interface VerifierKey {
  readonly name: string
  readonly id: string
  readonly publicKey: Bytes
}

export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Bytes
  /** The signed part. */
  readonly text: string
  readonly signatures: readonly { name: string; keyId: string; signature: Bytes }[]
}

export interface Proof {
  readonly index: number
  readonly path: readonly Bytes[]
  readonly note: string
}

/** A text that is not in the format; its message names the part. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError'
}

const malformed = (part: string): MalformedError => new MalformedError(part)
const utf8 = (text: string): Bytes => new TextEncoder().encode(text)
const NUMBER = /^(?:0|[1-9][0-9]{0,15})$/
const HASH = /^[0-9a-f]{64}$/

function joined(...parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

function fromHex(text: string): Bytes {
  if (!HASH.test(text)) throw malformed('hash')
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** Reads canonical base64 only: two spellings of one value would be two texts with one meaning. */
function fromBase64(text: string, part: string): Bytes {
  try {
    const binary = atob(text)
    if (btoa(binary) === text) return Uint8Array.from(binary, (one) => one.charCodeAt(0))
  } catch {
    // Not base64 at all.
  }
  throw malformed(part)
}

const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

const equal = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, i) => byte === other[i])

const node = (left: Bytes, right: Bytes): Promise<Bytes> =>
  sha256(joined(Uint8Array.of(1), left, right))

/** The commitment to a payload, in hexadecimal. */
export const commitmentOf = async (salt: string, payload: string): Promise<string> =>
  toHex(await sha256(utf8(`ledger-payload/v1\n${salt}\n${payload}`)))

/** The seven lines of a header. */
export const headerOf = (orgId: string, entry: EntryText): string =>
  `ledger-entry/v1\n${orgId}\n${entry.seq}\n${entry.prev_hash}\n${entry.recorded_at}\n${entry.kind}\n${entry.commitment}\n`

/** The leaf of a header in the tree; in hexadecimal the hash of the entry. */
export const leafOf = (header: string): Promise<Bytes> =>
  sha256(joined(Uint8Array.of(0), utf8(header)))

/** Reads a verifier key and checks that its id belongs to it. */
export async function readVerifierKey(vkey: string): Promise<VerifierKey> {
  const [, name = '', id = '', encoded = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(vkey) ?? []
  const bytes = fromBase64(encoded, 'key')
  if (name === '' || bytes.length !== 33 || bytes[0] !== 1) throw malformed('key')
  const hash = await sha256(joined(utf8(`${name}\n`), bytes))
  if (toHex(hash.slice(0, 4)) !== id) throw malformed('key')
  return { name, id, publicKey: bytes.slice(1) }
}

/** Reads a signed note. Nothing in it is checked yet. */
export function readCheckpoint(note: string): Checkpoint {
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const lines = text.split('\n')
  const [origin = '', size = '', root = ''] = lines
  if (end < 0 || lines.length < 4 || origin === '' || !NUMBER.test(size)) throw malformed('note')
  const signatures = note
    .slice(end + 2)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', encoded = ''] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? []
      const bytes = fromBase64(encoded, 'note')
      if (name === '' || bytes.length < 5) throw malformed('note')
      return { name, keyId: toHex(bytes.slice(0, 4)), signature: bytes.slice(4) }
    })
  const rootHash = fromBase64(root, 'note')
  if (rootHash.length !== 32) throw malformed('note')
  return { origin, size: Number(size), root: rootHash, text, signatures }
}

/** Reads a C2SP tlog-proof. */
export function readProof(file: string): Proof {
  const end = file.indexOf('\n\n')
  const [version, index = '', ...path] = file.slice(0, Math.max(0, end)).split('\n')
  const [, seq = ''] = /^index (\S+)$/.exec(index) ?? []
  if (version !== 'c2sp.org/tlog-proof@v1' || !NUMBER.test(seq)) throw malformed('proof')
  const hashes = path.map((line) => fromBase64(line, 'proof'))
  if (hashes.some((hash) => hash.length !== 32)) throw malformed('proof')
  return { index: Number(seq), path: hashes, note: file.slice(end + 2) }
}

/** The root that an inclusion path leads to, null for a path of a wrong length: RFC 9162, 2.1.3.2. */
export async function rootOfInclusion(
  index: number,
  size: number,
  leaf: Bytes,
  path: readonly Bytes[],
): Promise<Bytes | null> {
  if (index >= size) return null
  let [at, last, hash] = [index, size - 1, leaf]
  for (const sibling of path) {
    if (last === 0) return null
    if (at % 2 === 1 || at === last) {
      hash = await node(sibling, hash)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else hash = await node(hash, sibling)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? hash : null
}

/** Returns true if the tree of `to` entries begins with the tree of `from` entries: RFC 9162, 2.1.4.2. */
export async function isConsistent(
  from: { readonly size: number; readonly root: Bytes },
  to: { readonly size: number; readonly root: Bytes },
  proof: readonly Bytes[],
): Promise<boolean> {
  if (from.size > to.size || from.size === 0) return false
  if (from.size === to.size) return proof.length === 0 && equal(from.root, to.root)
  const isPowerOfTwo = Number.isInteger(Math.log2(from.size))
  const [first, ...rest] = isPowerOfTwo ? [from.root, ...proof] : proof
  if (!first) return false
  let [at, last] = [from.size - 1, to.size - 1]
  while (at % 2 === 1) {
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  let [old, grown] = [first, first]
  for (const hash of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      old = await node(hash, old)
      grown = await node(hash, grown)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else grown = await node(grown, hash)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && equal(old, from.root) && equal(grown, to.root)
}

/** The base64 hashes of a consistency proof. */
export const readPath = (hashes: readonly string[]): Bytes[] =>
  hashes.map((hash) => {
    const bytes = fromBase64(hash, 'consistency')
    if (bytes.length !== 32) throw malformed('consistency')
    return bytes
  })

export type SignatureState = 'valid' | 'invalid' | 'missing' | 'unsupported'

/** Checks the signature of one key. `unsupported`: this browser cannot verify Ed25519. */
export async function signatureOf(note: Checkpoint, key: VerifierKey): Promise<SignatureState> {
  const lines = note.signatures.filter(({ name, keyId }) => name === key.name && keyId === key.id)
  if (lines.length === 0) return 'missing'
  try {
    const imported = await crypto.subtle.importKey('raw', key.publicKey, 'Ed25519', false, [
      'verify',
    ])
    for (const { signature } of lines)
      if (!(await crypto.subtle.verify('Ed25519', imported, signature, utf8(note.text))))
        return 'invalid'
    return 'valid'
  } catch {
    return 'unsupported'
  }
}

export type EntryFault = 'payload' | 'hash' | 'index' | 'origin' | 'inclusion'

/** Checks an entry up to the root of the note; returns the first fault. */
export async function entryFault(
  entry: EntryText,
  proof: Proof,
  note: Checkpoint,
): Promise<EntryFault | null> {
  const orgId = /\/ledger\/([a-z0-9_-]{1,64})\/[^/]+$/.exec(note.origin)?.[1]
  if (orgId === undefined) return 'origin'
  const { salt, payload } = entry
  if (payload !== null || salt !== null)
    if (
      payload === null ||
      salt === null ||
      (await commitmentOf(salt, payload)) !== entry.commitment
    )
      return 'payload'
  const leaf = await leafOf(headerOf(orgId, entry))
  if (!equal(leaf, fromHex(entry.hash))) return 'hash'
  if (proof.index !== entry.seq) return 'index'
  const root = await rootOfInclusion(proof.index, note.size, leaf, proof.path)
  return root && equal(root, note.root) ? null : 'inclusion'
}
