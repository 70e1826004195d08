import type { Faults } from './faults.ts'
import { readCheckpoint } from './note.ts'
import type { Checkpoint } from './note.ts'
import type { History } from './history.ts'
import type { SigningKeys } from './signing-keys.ts'

interface Waiting {
  readonly checkpoint: Checkpoint
  /** It was stored outside of the ledger's database. */
  readonly outside: boolean
}

/**
 * The checkpoints that an export is compared with: each waits until the tree has grown to its size.
 * A root is base64; null if the start of the tree is unknown, '' after a gap, which equals no root.
 */
export class Checkpoints {
  checked = 0
  wrong = 0
  /** Number of those not compared, because the tree at their size was unknown. */
  passed = 0
  /** Number of those beyond the end of a partial export. */
  beyond = 0
  /** Sizes of the largest matching ones: external, and signed by a declared or pinned key. */
  outside = -1
  #signed: { readonly size: number; readonly vkey: string } | null = null
  #reached = -1
  /** External ones with another root or another signer. */
  readonly #disputed: { readonly checkpoint: Checkpoint; readonly isSigned: boolean }[] = []
  readonly #waiting = new Map<number, Waiting[]>()
  readonly #keys: SigningKeys
  readonly #faults: Faults
  readonly #origin: string

  constructor(keys: SigningKeys, faults: Faults, origin: string) {
    this.#keys = keys
    this.#faults = faults
    this.#origin = origin
  }

  /** True if there was any. */
  get given(): boolean {
    return this.checked + this.passed + this.#waiting.size > 0
  }

  /** The largest size of a given one, matching or not, also beyond the end. */
  get largest(): number {
    return largest(this.#reached, this.#waiting.keys())
  }

  /** The size up to which a trusted key has signed; -1 for none. */
  get trusted(): number {
    return this.#signed !== null && this.#keys.isTrusted(this.#signed.vkey) ? this.#signed.size : -1
  }

  /** True if a key was pinned, but the newest valid checkpoint has an untrusted signer. */
  get isUntrusted(): boolean {
    return this.#keys.hasPinned && this.#signed !== null && this.trusted < 0
  }

  /** Adds a checkpoint as text, when the tree had `size` leaves. */
  add(note: string, outside: boolean, size: number, root: () => string | null): void {
    const checkpoint = readCheckpoint(note)
    if (checkpoint === null) {
      this.checked++
      this.#isWrong(size, 'malformed_checkpoint')
    } else if (checkpoint.size === size) {
      this.#compare({ checkpoint, outside }, root())
    } else if (checkpoint.size < size) {
      this.#pass(checkpoint)
    } else {
      const others = this.#waiting.get(checkpoint.size) ?? []
      this.#waiting.set(checkpoint.size, [...others, { checkpoint, outside }])
    }
  }

  /** Reports one that the witness must have signed. It confirms nothing. */
  refuseUnwitnessed({ size }: Checkpoint): void {
    this.checked++
    this.#isWrong(size, 'checkpoint_witness')
  }

  /** Compares the checkpoints of this size. */
  reach(size: number, root: () => string | null): void {
    const due = this.#waiting.get(size)
    if (due === undefined) return
    this.#waiting.delete(size)
    for (const one of due) this.#compare(one, root())
  }

  /** Drops those beyond `size`: their entries are not in the export. */
  leaveBeyond(size: number): void {
    for (const [at, waiting] of this.#waiting) {
      if (at <= size) continue
      this.beyond += waiting.length
      this.#waiting.delete(at)
    }
  }

  /** Reports those still pending after `size` entries. */
  end(size: number): void {
    for (const { checkpoint } of [...this.#waiting.values()].flat()) {
      this.checked++
      if (checkpoint.size < size)
        this.#isWrong(checkpoint.size, 'checkpoint_root', 'entries are missing before it')
      else this.#truncated(checkpoint, size)
    }
  }

  /**
   * Reports contradicting external ones at the end: a recorded restore from a backup explains those
   * of lost entries.
   */
  settle(history: History): void {
    for (const { checkpoint, isSigned } of this.#disputed) {
      const { size } = checkpoint
      const loss = history.lossOf(size)
      const isLost = loss && (isSigned || this.#keys.isSignedByAny(checkpoint, loss.vkey))
      if (!isLost && !isSigned) {
        this.#isWrong(size, 'checkpoint_signature')
      } else if (!isLost) {
        this.#isWrong(size, 'checkpoint_root', `signed for size ${size}`)
      } else {
        const { seq, lost } = loss
        const range = `${lost.from_seq} to ${lost.to_seq}`
        this.wrong++
        this.#faults.add(lost.from_seq, 'truncated', `entry ${seq} records that ${range} were lost`)
      }
    }
  }

  #compare({ checkpoint, outside }: Waiting, root: string | null): void {
    const { size } = checkpoint
    if (root === null) {
      this.#pass(checkpoint)
      return
    }
    this.#reached = Math.max(this.#reached, size)
    this.checked++
    const signer = this.#keys.signerOf(checkpoint)
    const isOurs = checkpoint.origin === this.#origin
    if (signer === 'wrong' && outside && isOurs) {
      this.#disputed.push({ checkpoint, isSigned: false })
    } else if (signer === 'wrong') {
      this.#isWrong(size, 'checkpoint_signature')
    } else if (!isOurs) {
      this.#isWrong(size, 'checkpoint_origin', checkpoint.origin)
    } else if (checkpoint.root !== root && outside && root !== '') {
      this.#disputed.push({ checkpoint, isSigned: true })
    } else if (checkpoint.root !== root) {
      this.#isWrong(size, 'checkpoint_root', `signed for size ${size}`)
    } else {
      if (outside) this.outside = Math.max(this.outside, size)
      if (signer === 'unknown') return
      this.#keys.vouch(signer, size)
      const { vkey } = this.#keys.successorOf(checkpoint) ?? signer
      if (size >= (this.#signed?.size ?? 0)) this.#signed = { size, vkey }
    }
  }

  /** Reports missing signed entries, unless the checkpoint itself is invalid. */
  #truncated(checkpoint: Checkpoint, size: number): void {
    if (this.#keys.signerBeyond(checkpoint) === 'wrong') {
      this.#isWrong(size, 'checkpoint_signature')
    } else if (checkpoint.origin !== this.#origin) {
      this.#isWrong(size, 'checkpoint_origin', checkpoint.origin)
    } else {
      this.wrong++
      this.#faults.add(size, 'truncated', `a checkpoint of size ${checkpoint.size} exists`)
    }
  }

  #pass({ size }: Checkpoint): void {
    this.#reached = Math.max(this.#reached, size)
    this.passed++
  }

  #isWrong(
    size: number,
    code:
      | 'malformed_checkpoint'
      | 'checkpoint_signature'
      | 'checkpoint_origin'
      | 'checkpoint_root'
      | 'checkpoint_witness',
    detail?: string,
  ): void {
    this.wrong++
    this.#faults.add(Math.max(0, size - 1), code, detail)
  }
}

/** Returns the largest size; there may be more of them than a call can have arguments. */
function largest(first: number, others: Iterable<number>): number {
  let found = first
  for (const size of others) if (size > found) found = size
  return found
}
