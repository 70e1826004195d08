import { NoteError, parseVerifierKey, verifyNote } from '../format/note.ts'
import type { NoteVerifier } from '../format/note.ts'

/** Which key signs from which size on, as the chain itself declares it. */
interface Declared {
  readonly verifier: NoteVerifier
  /** Smallest size of a checkpoint that this key signs. */
  readonly from: number
}

/** How a note was found: by which key, and whether that key is trusted from outside. */
export type Signature =
  | { readonly state: 'valid'; readonly vkey: string }
  | { readonly state: 'unknown' }
  | { readonly state: 'invalid'; readonly detail: string }

/**
 * The keys of one chain. The genesis entry names the first key, each `ledger.key_rotated` entry
 * the next. Such names prove nothing by themselves: whoever rewrites a ledger rewrites them too.
 * A key is trusted if it is pinned from outside, or if a trusted key signed the very checkpoint
 * that ends with the entry announcing it.
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

  /** The key in force after everything that was read; null if the chain has named none. */
  get current(): string | null {
    return this.#declared.at(-1)?.verifier.vkey ?? null
  }

  isTrusted(vkey: string): boolean {
    return this.#trusted.has(vkey)
  }

  /** The key that signs checkpoints of this size, if the chain has named one. */
  keyAt(size: number): NoteVerifier | null {
    return this.#declared.findLast(({ from }) => from <= size)?.verifier ?? null
  }

  /** The key of genesis, or the one in force where a verification begins. False if it is not a verifier key. */
  declare(vkey: string): boolean {
    return this.#add(vkey, 0)
  }

  /**
   * A rotation by entry `seq`: the checkpoint that ends with this entry is still signed by the old
   * key, which thereby vouches for the new one; all larger ones are signed by the new. False if
   * the old key is not the one in force, or either is no verifier key.
   */
  rotate(seq: number, oldVkey: unknown, newVkey: unknown): boolean {
    if (typeof oldVkey !== 'string' || typeof newVkey !== 'string') return false
    const current = this.#declared.at(-1)?.verifier.vkey
    // A verification that began in the middle learns the old key only here.
    if (current === undefined ? !this.#add(oldVkey, 0) : current !== oldVkey) return false
    return this.#add(newVkey, seq + 2)
  }

  /** Whether the checkpoint of this size is the one by which a key vouches for the next. */
  isLastOfKey(size: number): boolean {
    return this.#declared.length > 1 && this.#declared.some(({ from }) => from === size + 1)
  }

  /** Judges the signature of a checkpoint note of this size. */
  check(note: string, size: number): Signature {
    const declared = this.keyAt(size)
    const candidates = declared === null ? this.#pinned : [declared]
    if (candidates.length === 0) return { state: 'unknown' }
    return signatureBy(note, candidates)
  }

  /**
   * The next key, where it is trusted and this checkpoint is the one that both sign: until the next commit
   * it is the newest, and whoever pinned the new key alone has nothing else.
   */
  successor(note: string, size: number): string | null {
    const next = this.#declared.find(({ from }) => from === size + 1)?.verifier
    if (!next || !this.#trusted.has(next.vkey)) return null
    return signatureBy(note, [next]).state === 'valid' ? next.vkey : null
  }

  /** Whether any key signed this note that was ever in force here, is pinned, or is `also` named. */
  isSignedByAny(note: string, also: string | null): boolean {
    const declared = this.#declared.map(({ verifier }) => verifier)
    const candidates = [...declared, ...this.#pinned, ...verifiersOf(also)]
    return signatureBy(note, candidates).state === 'valid'
  }

  /** As `check`, for a checkpoint beyond the end: a rotation may be among what is missing. */
  checkBeyond(note: string, size: number): Signature {
    const signature = this.check(note, size)
    return signature.state === 'invalid' ? signatureBy(note, this.#pinned) : signature
  }

  /** Notes that a trusted checkpoint of this size was seen: it may vouch for the next key. */
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

/** The key that a text is; none if it is not a verifier key. */
function verifiersOf(vkey: string | null): NoteVerifier[] {
  try {
    return vkey === null ? [] : [parseVerifierKey(vkey)]
  } catch (error) {
    if (error instanceof NoteError) return []
    throw error
  }
}

function signatureBy(note: string, candidates: readonly NoteVerifier[]): Signature {
  let detail = 'no key is known'
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
