import { NoteError, parseVerifierKey, verifyNote } from '../format/note.ts'
import type { NoteVerifier } from '../format/note.ts'

/** The signing key from a size on, as the chain declares it. */
interface Declared {
  readonly verifier: NoteVerifier
  /** Smallest size of a checkpoint that this key signs. */
  readonly from: number
}

/** The result for a note: the signing key, and true if that key is trusted. */
export type SignatureResult =
  | { readonly state: 'valid'; readonly vkey: string }
  | { readonly state: 'unknown' }
  | { readonly state: 'invalid'; readonly detail: string }

/**
 * The keys of one chain. The genesis entry names the first key, each `ledger.key_rotated` entry the
 * next. These names alone prove nothing, as a rewritten ledger can name other keys. A key is
 * trusted if it is pinned from outside, or if a trusted key signed the checkpoint that ends with
 * the entry that announces it.
 */
export class ChainKeys {
  readonly #pinned: readonly NoteVerifier[]
  readonly #trusted: Set<string>
  #declared: readonly Declared[] = []

  constructor(pinned: readonly NoteVerifier[]) {
    this.#pinned = pinned
    this.#trusted = new Set(pinned.map(({ vkey }) => vkey))
  }

  get hasPinned(): boolean {
    return this.#pinned.length > 0
  }

  /** The key in force after the last entry; null if the chain has named none. */
  get current(): string | null {
    return this.#declared.at(-1)?.verifier.vkey ?? null
  }

  isTrusted(vkey: string): boolean {
    return this.#trusted.has(vkey)
  }

  /** Returns the key that signs checkpoints of this size, if the chain has named one. */
  keyAt(size: number): NoteVerifier | null {
    return this.#declared.findLast(({ from }) => from <= size)?.verifier ?? null
  }

  /**
   * Sets the key of genesis, or the one in force at the start. False for an invalid verifier key.
   */
  declare(vkey: string): boolean {
    return this.#add(vkey, 0)
  }

  /**
   * Handles a rotation by entry `seq`: the checkpoint that ends with this entry is still signed by
   * the old key, which thereby confirms the new one; all larger ones are signed by the new key.
   * False if the old key is not the one in force, or if either is not a verifier key.
   */
  rotate(seq: number, oldVkey: unknown, newVkey: unknown): boolean {
    if (typeof oldVkey !== 'string' || typeof newVkey !== 'string') return false
    const current = this.#declared.at(-1)?.verifier.vkey
    // A verification of a part learns the old key only here.
    if (current === undefined ? !this.#add(oldVkey, 0) : current !== oldVkey) return false
    return this.#add(newVkey, seq + 2)
  }

  /** Returns true if a key confirms its successor with the checkpoint of this size. */
  isLastOfKey(size: number): boolean {
    return this.#declared.length > 1 && this.#declared.some(({ from }) => from === size + 1)
  }

  /** Checks the signature of a checkpoint note of this size. */
  check(note: string, size: number): SignatureResult {
    const declared = this.keyAt(size)
    const candidates = declared === null ? this.#pinned : [declared]
    if (candidates.length === 0) return { state: 'unknown' }
    return signatureBy(note, candidates)
  }

  /**
   * Returns the next key if it is trusted and both keys sign this checkpoint: it is the newest one
   * until the next commit, and a verifier may have pinned only the new key.
   */
  successor(note: string, size: number): string | null {
    const next = this.#declared.find(({ from }) => from === size + 1)?.verifier
    if (!next || !this.#trusted.has(next.vkey)) return null
    return signatureBy(note, [next]).state === 'valid' ? next.vkey : null
  }

  /** Returns true if a key signed this note that was ever in force, is pinned, or is `also`. */
  isSignedByAny(note: string, also: string | null): boolean {
    const declared = this.#declared.map(({ verifier }) => verifier)
    const candidates = [...declared, ...this.#pinned, ...verifiersOf(also)]
    return signatureBy(note, candidates).state === 'valid'
  }

  /** Like `check`, for a checkpoint beyond the end: the missing entries may include a rotation. */
  checkBeyond(note: string, size: number): SignatureResult {
    const signature = this.check(note, size)
    return signature.state === 'invalid' ? signatureBy(note, this.#pinned) : signature
  }

  /** Records a trusted checkpoint of this size, which may confirm the next key. */
  endorse(vkey: string, size: number): void {
    const next = this.#declared.find(({ from }) => from === size + 1)
    if (next && this.#trusted.has(vkey)) this.#trusted.add(next.verifier.vkey)
  }

  #add(vkey: string, from: number): boolean {
    const [verifier] = verifiersOf(vkey)
    if (verifier) this.#declared = [...this.#declared, { verifier, from }]
    return verifier !== undefined
  }
}

/** Parses a verifier key; empty for an invalid one. */
function verifiersOf(vkey: string | null): NoteVerifier[] {
  try {
    return vkey === null ? [] : [parseVerifierKey(vkey)]
  } catch (error) {
    if (error instanceof NoteError) return []
    throw error
  }
}

function signatureBy(note: string, candidates: readonly NoteVerifier[]): SignatureResult {
  let detail = 'the signing key is unknown'
  for (const candidate of candidates) {
    try {
      verifyNote(note, [candidate])
      return { state: 'valid', vkey: candidate.vkey }
    } catch (error) {
      if (!(error instanceof NoteError)) throw error
      detail = error.message
    }
  }
  return { state: 'invalid', detail }
}
