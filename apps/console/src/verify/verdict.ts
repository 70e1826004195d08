/**
 * Verification of one ledger entry in a browser. It trusts nothing but the pinned key: every hash is computed here,
 * over the text that the server gave.
 */
import {
  committedText,
  headerOf,
  isConsistent,
  keyText,
  leafText,
  parseKey,
  readCheckpoint,
  readPath,
  readProof,
  rootOfInclusion,
  signaturesOf,
  toHex,
} from '@remit/verify/pure'
import type { Checkpoint, EntryText, KeyText, Proof, Sha256 } from '@remit/verify/pure'

type EntryFault = 'payload' | 'hash' | 'index' | 'origin' | 'inclusion' | 'malformed'

export type Fault =
  | EntryFault
  | 'another_entry'
  | 'signature'
  | 'unsigned'
  | 'key_changed'
  | 'consistency'
  | 'shorter'

export type CheckName = 'payload' | 'header' | 'inclusion' | 'signature' | 'key' | 'consistency'
export type CheckState = 'ok' | 'failed' | 'not_checked'

export interface Check {
  readonly name: CheckName
  readonly state: CheckState
  /** Facts for the text of the check. */
  readonly detail?: Readonly<Record<string, string | number>>
}

export interface Verdict {
  readonly state: 'verified' | 'not_verified' | 'not_checked'
  readonly fault?: Fault
  readonly missing?: 'crypto' | 'ed25519' | 'answer'
  readonly checks: readonly Check[]
  readonly note?: Checkpoint
  readonly key?: KeyText
  /** To keep, if the verdict is `verified`. */
  readonly keep?: { readonly vkey: string; readonly note: string }
  /** The text of the failed request of `missing: 'answer'`. */
  readonly problem?: string
}

/** The questions to the server. */
export interface Source {
  readonly entry: (seq: number) => Promise<EntryText>
  readonly proof: (seq: number, size?: number) => Promise<string>
  readonly consistency: (from: number, to: number) => Promise<readonly string[]>
  readonly keys: () => Promise<readonly { readonly vkey: string; readonly to_seq: number | null }[]>
}

interface Pinned {
  readonly vkey: string | null
  readonly note: string | null
}

const NAMES: readonly CheckName[] = [
  'payload',
  'header',
  'inclusion',
  'signature',
  'key',
  'consistency',
]

/** The place where a fault of the entry shows. */
const CHECK_OF: Readonly<Record<EntryFault, CheckName>> = {
  payload: 'payload',
  hash: 'header',
  index: 'inclusion',
  origin: 'signature',
  inclusion: 'inclusion',
  malformed: 'inclusion',
}

/** The checks up to a failed one, the failed one, and the rest as not checked. */
const failedAt = (name: CheckName): Check[] =>
  NAMES.map((one, i) => {
    const at = NAMES.indexOf(name)
    if (i === at) return { name: one, state: 'failed' }
    return { name: one, state: i < at ? 'ok' : 'not_checked' }
  })

const refused = (fault: Fault, name: CheckName): Verdict => ({
  state: 'not_verified',
  fault,
  checks: failedAt(name),
})

/** Verifies one entry against the pinned key and the checkpoint that this browser saw last. */
export async function verifyEntry(
  seq: number,
  source: Source,
  pinnedOf: (origin: string) => Pinned,
): Promise<Verdict> {
  const unknown = NAMES.map((name): Check => ({ name, state: 'not_checked' }))
  // Browsers offer WebCrypto over https and on loopback only.
  if (!globalThis.crypto?.subtle)
    return { state: 'not_checked', missing: 'crypto', checks: unknown }
  try {
    return await verified(seq, source, pinnedOf)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { state: 'not_checked', missing: 'answer', checks: unknown, problem }
  }
}

async function verified(
  seq: number,
  source: Source,
  pinnedOf: (origin: string) => Pinned,
): Promise<Verdict> {
  const [entry, file] = await Promise.all([source.entry(seq), source.proof(seq)])
  if (entry.seq !== seq) return refused('another_entry', 'header')
  const proof = readProof(file)
  if (proof === null) return refused('malformed', 'inclusion')
  const fault = await entryFault(entry, proof)
  if (fault) return refused(fault, CHECK_OF[fault])

  const note = proof.checkpoint
  const pinned = pinnedOf(note.origin)
  const listed = await source.keys()
  const newest = listed.findLast(({ to_seq }) => to_seq === null) ?? listed.at(-1)
  const vkey = newest?.vkey
  if (vkey === undefined) return refused('unsigned', 'signature')
  const key = await readKey(vkey)
  if (key === null) return refused('malformed', 'key')
  if (key.name !== note.origin) return refused('origin', 'signature')
  const signature = await signatureOf(note.note, key)
  if (signature === 'invalid') return refused('signature', 'signature')
  if (signature === 'missing') return refused('unsigned', 'signature')
  const isPinned = pinned.vkey === vkey
  const isSupported = signature === 'valid'
  if (pinned.vkey !== null && !isPinned && isSupported) {
    const isEndorsed = await isRotated(pinned.vkey, vkey, listed, source)
    if (!isEndorsed) return refused('key_changed', 'key')
  }

  const seen = pinned.note === null ? null : readCheckpoint(pinned.note)
  if (pinned.note !== null && seen === null) return refused('malformed', 'consistency')
  const grown = seen && (await growthFault(seen, note, source))
  if (grown) return refused(grown, 'consistency')

  const isErased = entry.payload === null
  const checks: Check[] = [
    { name: 'payload', state: isErased ? 'not_checked' : 'ok' },
    { name: 'header', state: 'ok' },
    { name: 'inclusion', state: 'ok', detail: { size: note.size } },
    { name: 'signature', state: isSupported ? 'ok' : 'not_checked', detail: { key: key.id } },
    {
      name: 'key',
      state: isSupported && pinned.vkey !== null ? 'ok' : 'not_checked',
      detail: { key: key.id },
    },
    {
      name: 'consistency',
      state: seen ? 'ok' : 'not_checked',
      detail: seen ? { from: seen.size, to: note.size } : {},
    },
  ]
  if (!isSupported) return { state: 'not_checked', missing: 'ed25519', checks, note, key }
  return { state: 'verified', checks, note, key, keep: { vkey, note: note.note } }
}

async function growthFault(
  seen: Checkpoint,
  note: Checkpoint,
  source: Source,
): Promise<Fault | null> {
  if (seen.size > note.size) return 'shorter'
  const path =
    seen.size === note.size ? [] : readPath(await source.consistency(seen.size, note.size))
  if (path === null) return 'malformed'
  return (await isConsistent(seen, note, path, sha256)) ? null : 'consistency'
}

/**
 * Returns true if the pinned key endorsed its successors up to `vkey`: each key signed the checkpoint of the
 * entry that announces the next one.
 */
async function isRotated(
  pinned: string,
  vkey: string,
  listed: readonly { readonly vkey: string; readonly to_seq: number | null }[],
  source: Source,
): Promise<boolean> {
  const from = listed.findIndex((one) => one.vkey === pinned)
  const to = listed.findIndex((one) => one.vkey === vkey)
  if (from < 0 || to < from) return false
  for (const [i, { vkey: old, to_seq: at }] of listed.slice(from, to).entries()) {
    if (at === null) return false
    const [entry, file] = await Promise.all([source.entry(at), source.proof(at, at + 1)])
    const proof = readProof(file)
    const { data } = JSON.parse(entry.payload ?? '{}') as {
      data?: { old_vkey?: unknown; new_vkey?: unknown }
    }
    const next = listed[from + i + 1]?.vkey
    const key = await readKey(old)
    if (!proof || !key) return false
    const { checkpoint } = proof
    const isAnnounced =
      entry.seq === at &&
      entry.kind === 'ledger.key_rotated' &&
      data?.old_vkey === old &&
      data.new_vkey === next &&
      checkpoint.size === at + 1 &&
      checkpoint.origin === key.name
    if (!isAnnounced || (await entryFault(entry, proof))) return false
    if ((await signatureOf(checkpoint.note, key)) !== 'valid') return false
  }
  return true
}

const sha256: Sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

const hashOf = (text: string) => sha256(new TextEncoder().encode(text))

/** Reads a verifier key; null unless its id belongs to it. */
export async function readKey(vkey: string): Promise<KeyText | null> {
  const key = parseKey(vkey)
  return key && toHex(await sha256(keyText(key))).startsWith(key.id) ? key : null
}

/** Checks the signature of one key. `unsupported`: this browser cannot verify Ed25519. */
export async function signatureOf(
  note: string,
  key: KeyText,
): Promise<'valid' | 'invalid' | 'missing' | 'unsupported'> {
  const { text, signatures } = signaturesOf(note, key)
  if (signatures.length === 0) return 'missing'
  try {
    const imported = await crypto.subtle.importKey('raw', key.bytes, 'Ed25519', false, ['verify'])
    for (const signature of signatures)
      if (!(await crypto.subtle.verify('Ed25519', imported, signature, text))) return 'invalid'
    return 'valid'
  } catch {
    return 'unsupported'
  }
}

/** Checks an entry up to the root of its proof; returns the first fault. */
export async function entryFault(
  entry: EntryText,
  { index, path, checkpoint }: Proof,
): Promise<EntryFault | null> {
  const orgId = /\/ledger\/([a-z0-9_-]{1,64})\/[^/]+$/.exec(checkpoint.origin)?.[1]
  if (orgId === undefined) return 'origin'
  const { salt, payload } = entry
  if (payload !== null || salt !== null) {
    if (payload === null || salt === null) return 'payload'
    if (toHex(await hashOf(committedText(salt, payload))) !== entry.commitment) return 'payload'
  }
  if (!/^[0-9a-f]{64}$/.test(entry.hash)) return 'malformed'
  const leaf = await hashOf(leafText(headerOf(orgId, entry)))
  if (toHex(leaf) !== entry.hash) return 'hash'
  if (index !== entry.seq) return 'index'
  const root = await rootOfInclusion(index, checkpoint.size, leaf, path, sha256)
  return root === checkpoint.root ? null : 'inclusion'
}
