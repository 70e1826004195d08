import type { Faults } from './faults.ts'
import { readCheckpoint } from './note.ts'
import type { Checkpoint } from './note.ts'
import type { History } from './history.ts'
import type { SigningKeys } from './signing-keys.ts'

interface Waiting {
  readonly checkpoint: Checkpoint
  /** Kept outside of the ledger's database. */
  readonly outside: boolean
}

/**
 * The checkpoints that an export is held against: each waits until the tree has grown to its size.
 * A root is base64; null where the beginning of the tree is not known, '' behind a gap, which no
 * root equals.
 */
export class Checkpoints {
  checked = 0
  wrong = 0
  /** How many could not be compared, because the tree at their size was not known. */
  passed = 0
  /** How many are of sizes that the export does not reach, and need not. */
  beyond = 0
  /** Sizes of the largest that agreed: kept outside, and signed by a key that was named or pinned. */
  outside = -1
  #signed: { readonly size: number; readonly vkey: string } | null = null
  #reached = -1
  /** From outside, and of another root or signed by another key. */
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

  /** Whether there was any at all. */
  get given(): boolean {
    return this.checked + this.passed + this.#waiting.size > 0
  }

  /** The largest size that was given, agreeing or not, also beyond the end. */
  get largest(): number {
    return largest(this.#reached, this.#waiting.keys())
  }

  /** The size up to which a trusted key has signed; -1 if none has. */
  get trusted(): number {
    return this.#signed !== null && this.#keys.isTrusted(this.#signed.vkey) ? this.#signed.size : -1
  }

  /** Whether a key was pinned, and the newest good checkpoint is of one that nobody vouches for. */
  get isUntrusted(): boolean {
    return this.#keys.hasPinned && this.#signed !== null && this.trusted < 0
  }

  /** A checkpoint as text, given when the tree had `size` leaves. */
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

  /** The tree has grown to this size. */
  reach(size: number, root: () => string | null): void {
    const due = this.#waiting.get(size)
    if (due === undefined) return
    this.#waiting.delete(size)
    for (const one of due) this.#compare(one, root())
  }

  /** Leaves out those beyond `size`: the entries that they cover are not in the export. */
  leaveBeyond(size: number): void {
    for (const [at, waiting] of this.#waiting) {
      if (at <= size) continue
      this.beyond += waiting.length
      this.#waiting.delete(at)
    }
  }

  /** What still waits when `size` entries were read. */
  end(size: number): void {
    for (const { checkpoint } of [...this.#waiting.values()].flat()) {
      this.checked++
      if (checkpoint.size < size)
        this.#isWrong(checkpoint.size, 'checkpoint_root', 'entries are missing before it')
      else this.#truncated(checkpoint, size)
    }
  }

  /**
   * Judges those from outside that disagree, when all is read: where a restore from a backup is
   * recorded that lost what they were signed over, nobody changed it.
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

  /** Entries that were signed are not there, unless the checkpoint itself is no good. */
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
    code: 'malformed_checkpoint' | 'checkpoint_signature' | 'checkpoint_origin' | 'checkpoint_root',
    detail?: string,
  ): void {
    this.wrong++
    this.#faults.add(Math.max(0, size - 1), code, detail)
  }
}

/** The largest of any number of sizes: there may be more of them than a call has arguments. */
function largest(first: number, others: Iterable<number>): number {
  let found = first
  for (const size of others) if (size > found) found = size
  return found
}
