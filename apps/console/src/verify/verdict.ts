import {
  entryFault,
  isConsistent,
  MalformedError,
  readCheckpoint,
  readPath,
  readProof,
  readVerifierKey,
  signatureOf,
} from './verify.ts'
import type { Checkpoint, EntryFault, EntryText, VerifierKey } from './verify.ts'

export type Fault =
  | EntryFault
  | 'another_entry'
  | 'signature'
  | 'unsigned'
  | 'key_changed'
  | 'consistency'
  | 'shorter'
  | 'malformed'

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
  readonly key?: VerifierKey
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
    if (error instanceof MalformedError) {
      const name = error.message === 'consistency' ? 'consistency' : 'inclusion'
      return refused('malformed', error.message === 'key' ? 'key' : name)
    }
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
  const note = readCheckpoint(proof.note)
  const fault = await entryFault(entry, proof, note)
  if (fault) return refused(fault, CHECK_OF[fault])

  const pinned = pinnedOf(note.origin)
  const listed = await source.keys()
  const newest = listed.findLast(({ to_seq }) => to_seq === null) ?? listed.at(-1)
  const vkey = newest?.vkey
  if (vkey === undefined) return refused('unsigned', 'signature')
  const key = await readVerifierKey(vkey)
  if (key.name !== note.origin) return refused('origin', 'signature')
  const signature = await signatureOf(note, key)
  if (signature === 'invalid') return refused('signature', 'signature')
  if (signature === 'missing') return refused('unsigned', 'signature')
  const isPinned = pinned.vkey === vkey
  const isSupported = signature === 'valid'
  if (pinned.vkey !== null && !isPinned && isSupported) {
    const isEndorsed = await isRotated(pinned.vkey, vkey, listed, source)
    if (!isEndorsed) return refused('key_changed', 'key')
  }

  const seen = pinned.note === null ? null : readCheckpoint(pinned.note)
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
  return { state: 'verified', checks, note, key, keep: { vkey, note: proof.note } }
}

async function growthFault(
  seen: Checkpoint,
  note: Checkpoint,
  source: Source,
): Promise<Fault | null> {
  if (seen.size > note.size) return 'shorter'
  const path =
    seen.size === note.size ? [] : readPath(await source.consistency(seen.size, note.size))
  return (await isConsistent(seen, note, path)) ? null : 'consistency'
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
    const note = readCheckpoint(proof.note)
    const { data } = JSON.parse(entry.payload ?? '{}') as {
      data?: { old_vkey?: unknown; new_vkey?: unknown }
    }
    const next = listed[from + i + 1]?.vkey
    const key = await readVerifierKey(old)
    const isAnnounced =
      entry.seq === at &&
      entry.kind === 'ledger.key_rotated' &&
      data?.old_vkey === old &&
      data.new_vkey === next &&
      note.size === at + 1 &&
      note.origin === key.name
    if (!isAnnounced || (await entryFault(entry, proof, note))) return false
    if ((await signatureOf(note, key)) !== 'valid') return false
  }
  return true
}
