import { readCheckpoint, NoteError, parseVerifierKey, verifyNote } from '../format/note.ts'
import type { Checkpoint } from '../format/note.ts'
import type { ChainKeys } from './keys.ts'
import type { Loss } from './history.ts'
import type { Anchor, ChainErrorCode, Findings } from './report.ts'

interface Given extends Checkpoint, Source {
  readonly note: string
}

/** The source of a checkpoint. */
interface Source {
  /** It was stored outside of the ledger's database. */
  readonly external: boolean
  /** It is the one of the head; the others only confirm it. */
  readonly newest?: boolean
}

/**
 * Verifying a signature takes longer than twenty entries, and the newest one covers the older ones.
 * Beyond this number, the signatures of checkpoints with a matching root are only sampled.
 */
const ALL_SIGNATURES = 1_024
const NOW_AND_THEN = 64

/** The current root of the chain; null with a reason if it cannot be computed. */
export type RootNow = { readonly root: string } | { readonly root: null; readonly lost: boolean }

/**
 * The checkpoints of one verification: each waits until the chain has grown to its size, and is
 * then compared with the root of the entries.
 */
export class ChainCheckpoints {
  /** The origin that checkpoints of this ledger must name; null until it is known. */
  origin: string | null
  checked = 0
  mismatched = 0
  /** Sizes whose root could not be compared, because the chain had passed them or started later. */
  readonly uncompared: number[] = []
  /**
   * Number of checkpoints of sizes that were not read, because the verification or the source ended
   * before.
   */
  beyond = 0
  /** Number of checkpoints with a matching root and an unverified signature. */
  unsigned = 0
  #seen = 0
  /** The size of the largest external checkpoint that matched. */
  externalSize = -1
  /** The largest signed size whose root matched before the first mismatch; 0 without one. */
  agreedSize = 0
  /** The largest checkpoint with valid signature and root, and its key. */
  #newest: { readonly size: number; readonly vkey: string } | null = null
  #reached = -1
  readonly #waiting = new Map<number, Given[]>()
  /**
   * External checkpoints that contradict this history: with another root, or signed by another key
   * (`unsigned`).
   */
  readonly #disputed: { readonly given: Given; readonly unsigned: string | null }[] = []
  readonly #keys: ChainKeys
  readonly #findings: Findings

  constructor(keys: ChainKeys, findings: Findings, origin: string | null) {
    this.#keys = keys
    this.#findings = findings
    this.origin = origin
  }

  get given(): boolean {
    return this.checked > 0 || this.#waiting.size > 0 || this.uncompared.length > 0
  }

  add(note: string, source: Source, size: number, now: () => RootNow): void {
    const checkpoint = readCheckpoint(note)
    if (checkpoint === null) {
      this.checked++
      this.#mismatch(size, 'malformed_checkpoint')
      return
    }
    const given = { ...checkpoint, ...source, note }
    if (given.size === size) this.#compare(given, now())
    else if (given.size < size) this.#leaveOut(given.size)
    else this.#waiting.set(given.size, [...(this.#waiting.get(given.size) ?? []), given])
  }

  /** Reports a checkpoint that lacks the signature of the witness. It confirms nothing. */
  refuseUnwitnessed(note: string, size: number): void {
    this.checked++
    this.#mismatch(readCheckpoint(note)?.size ?? size, 'checkpoint_witness')
  }

  isDue(size: number): boolean {
    return this.#waiting.has(size)
  }

  /** Compares the checkpoints of this size. */
  reach(size: number, now: RootNow): void {
    for (const given of this.#waiting.get(size) ?? []) this.#compare(given, now)
    this.#waiting.delete(size)
  }

  /** Drops those beyond `size`: their entries are elsewhere, or were not read. */
  leaveBeyond(size: number): void {
    for (const [at, given] of this.#waiting) {
      if (at <= size) continue
      this.beyond += given.length
      this.#waiting.delete(at)
    }
  }

  /** Reports those of sizes that were never reached: in a gap, or beyond the end. */
  end(size: number): void {
    for (const given of [...this.#waiting.values()].flat()) {
      this.checked++
      if (given.size < size) {
        this.#mismatch(given.size, 'checkpoint_root', 'entries are missing before it')
      } else {
        this.#truncated(given, size)
      }
    }
    this.#waiting.clear()
  }

  /**
   * Reports contradicting external checkpoints at the end: a recorded restore from a backup
   * explains those of lost entries.
   */
  settle(lossOf: (size: number) => Loss | undefined): void {
    for (const { given, unsigned } of this.#disputed) {
      const { size, note } = given
      const found = lossOf(size)
      const isLost = found && (unsigned === null || this.#keys.isSignedByAny(note, found.vkey))
      if (!isLost && unsigned !== null) this.#mismatch(size, 'checkpoint_signature', unsigned)
      else if (!isLost) this.#mismatch(size, 'checkpoint_root', `signed for size ${size}`)
      else {
        const { seq, lost } = found
        const detail = `entry ${seq} records that ${lost.from_seq} to ${lost.to_seq} were lost; a checkpoint of size ${size} exists`
        this.mismatched++
        this.#findings.add(lost.from_seq, 'truncated', detail)
      }
    }
  }

  /** The largest size of a given checkpoint, matching or not, also beyond the end. */
  get covers(): number {
    return largest(this.#reached, this.#waiting.keys())
  }

  /** The size up to which a trusted key has signed the entries; -1 for none. */
  get trustedSize(): number {
    const newest = this.#newest
    return newest !== null && this.#keys.isTrusted(newest.vkey) ? newest.size : -1
  }

  /** The size up to which only an untrusted key has signed, if a trusted one was required. */
  get untrustedSize(): number {
    const newest = this.#newest
    if (newest === null || !this.#keys.hasPinned) return -1
    return this.#keys.isTrusted(newest.vkey) ? -1 : newest.size
  }

  get anchor(): Anchor {
    if (this.externalSize >= 0) return 'external'
    return this.trustedSize >= 0 ? 'signature' : 'none'
  }

  #compare(given: Given, now: RootNow): void {
    const { size, note, external } = given
    if (now.root === null && !now.lost) {
      this.#leaveOut(size)
      return
    }
    this.#reached = Math.max(this.#reached, size)
    this.checked++
    if (given.root === now.root && given.origin === this.origin && !this.#isLookedAt(given)) {
      this.unsigned++
      return
    }
    const signature = this.#keys.check(note, size)
    if (signature.state === 'invalid' && external && given.origin === this.origin) {
      this.#disputed.push({ given, unsigned: signature.detail })
    } else if (signature.state === 'invalid') {
      this.#mismatch(size, 'checkpoint_signature', signature.detail)
    } else if (!this.#isOurs(given)) {
      this.#mismatch(size, 'checkpoint_origin', given.origin)
    } else if (given.root !== now.root && external && now.root !== null) {
      this.#disputed.push({ given, unsigned: null })
    } else if (given.root !== now.root) {
      this.#mismatch(size, 'checkpoint_root', `signed for size ${size}`)
    } else {
      if (external) this.externalSize = Math.max(this.externalSize, size)
      this.#agree(size)
      if (signature.state === 'valid') {
        this.#keys.endorse(signature.vkey, size)
        const vkey = this.#keys.successor(note, size) ?? signature.vkey
        if (size >= (this.#newest?.size ?? 0)) this.#newest = { size, vkey }
      }
    }
  }

  /** Returns true if the signature of this checkpoint is verified. */
  #isLookedAt({ size, external, newest }: Given): boolean {
    this.#seen++
    if (external || newest === true || this.#keys.isLastOfKey(size)) return true
    return this.#seen <= ALL_SIGNATURES || this.#seen % NOW_AND_THEN === 0
  }

  #agree(size: number): void {
    if (this.mismatched === 0 && this.#disputed.length === 0) this.agreedSize = size
  }

  #leaveOut(size: number): void {
    this.#reached = Math.max(this.#reached, size)
    this.uncompared.push(size)
  }

  /** Reports missing signed entries, unless the checkpoint itself is invalid. */
  #truncated(given: Given, size: number): void {
    const signature = this.#keys.checkBeyond(given.note, given.size)
    if (signature.state === 'invalid') {
      this.#mismatch(size, 'checkpoint_signature', signature.detail)
    } else if (!this.#isOurs(given)) {
      this.#mismatch(size, 'checkpoint_origin', given.origin)
    } else {
      this.mismatched++
      this.#findings.add(size, 'truncated', `a checkpoint of size ${given.size} exists`)
    }
  }

  #isOurs({ origin }: Given): boolean {
    this.origin ??= origin
    return origin === this.origin
  }

  #mismatch(size: number, code: ChainErrorCode, detail?: string): void {
    this.mismatched++
    this.#findings.add(Math.max(0, size - 1), code, detail)
  }
}

/** Returns the largest size; there may be more of them than a call can have arguments. */
function largest(first: number, others: Iterable<number>): number {
  let found = first
  for (const size of others) if (size > found) found = size
  return found
}

/** Returns true if one of the verifier keys signed a note. Invalid keys are ignored. */
export function isSignedByAny(note: string, vkeys: Iterable<string>): boolean {
  for (const vkey of vkeys) {
    try {
      verifyNote(note, [parseVerifierKey(vkey)])
      return true
    } catch (error) {
      if (!(error instanceof NoteError)) throw error
    }
  }
  return false
}

export interface ExternalCheckpoint extends Checkpoint {
  /** The exact signed text. */
  readonly note: string
}

/**
 * Parses an external checkpoint; null for an invalid one. Line ends may have changed: shells drop
 * the last newline, tools add one, mail and editors write CRLF. Stored notes, in contrast, must
 * match byte by byte.
 */
export function parseExternalCheckpoint(text: string): ExternalCheckpoint | null {
  const note = `${text.replaceAll('\r\n', '\n').trimEnd()}\n`
  const checkpoint = readCheckpoint(note)
  return checkpoint && { ...checkpoint, note }
}
