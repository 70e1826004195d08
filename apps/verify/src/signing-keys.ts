import { isSignedBy, readKey } from './note.ts'
import type { Checkpoint, Key } from './note.ts'

/** Who signed a checkpoint: a key, nobody who should have, or nobody that could be named. */
export type Signer = Key | 'wrong' | 'unknown'

/**
 * Which key signs at which size, as the ledger itself says, and which of them is trusted
 * (docs/ledger-format.md section 6). What the ledger says proves nothing by itself: whoever
 * rewrites it writes his own key there.
 */
export class SigningKeys {
  /** In the order of `from`: the smallest size of a checkpoint that the key signs. */
  readonly #named: { readonly key: Key; readonly from: number }[] = []
  readonly #pinned: readonly Key[]
  readonly #trusted: Set<string>

  constructor(pinned: readonly Key[]) {
    this.#pinned = pinned
    this.#trusted = new Set(pinned.map(({ vkey }) => vkey))
  }

  get hasPinned(): boolean {
    return this.#pinned.length > 0
  }

  /** The key in force after all that was read; null while the ledger has named none. */
  get current(): string | null {
    return this.#named.at(-1)?.key.vkey ?? null
  }

  isTrusted(vkey: string): boolean {
    return this.#trusted.has(vkey)
  }

  /** The key that genesis names, or that an export begins with. False if it is none. */
  first(vkey: unknown): boolean {
    return this.#name(vkey, 0)
  }

  /**
   * Entry `seq` passes signing on. The checkpoint of size `seq` + 1 ends with it and is still signed
   * by the old key, larger ones by the new. False unless the old key is the one in force.
   */
  rotate(seq: number, old: unknown, next: unknown): boolean {
    const { current } = this
    // An export that begins later learns only here which key was in force.
    const known = current === null ? this.#name(old, 0) : current === old
    return known && this.#name(next, seq + 2)
  }

  signerOf({ note, size }: Checkpoint): Signer {
    const named = this.#named.findLast(({ from }) => from <= size)?.key
    if (named === undefined && !this.hasPinned) return 'unknown'
    return firstOf(note, named === undefined ? this.#pinned : [named])
  }

  /** The next key, where it is trusted and signed this checkpoint too, which is the last of the old one. */
  successorOf({ note, size }: Checkpoint): Key | null {
    const next = this.#named.find(({ from }) => from === size + 1)?.key
    return next !== undefined && this.isTrusted(next.vkey) && isSignedBy(note, next) ? next : null
  }

  /** As `signerOf` beyond the last entry, where a rotation may be among what is missing. */
  signerBeyond(checkpoint: Checkpoint): Signer {
    const signer = this.signerOf(checkpoint)
    return signer === 'wrong' ? firstOf(checkpoint.note, this.#pinned) : signer
  }

  /** Whether any key signed it that the ledger ever named, that is pinned, or that `also` is. */
  isSignedByAny({ note }: Checkpoint, also: unknown): boolean {
    const other = typeof also === 'string' ? readKey(also) : null
    const keys = [...this.#named.map(({ key }) => key), ...this.#pinned, ...(other ? [other] : [])]
    return keys.some((key) => isSignedBy(note, key))
  }

  /** A key signed the right root of this size: if it is trusted, so is the key it hands over to. */
  vouch({ vkey }: Key, size: number): void {
    const next = this.#named.find(({ from }) => from === size + 1)
    if (next !== undefined && this.isTrusted(vkey)) this.#trusted.add(next.key.vkey)
  }

  #name(vkey: unknown, from: number): boolean {
    const key = typeof vkey === 'string' ? readKey(vkey) : null
    if (key !== null) this.#named.push({ key, from })
    return key !== null
  }
}

const firstOf = (note: string, keys: readonly Key[]): Key | 'wrong' =>
  keys.find((key) => isSignedBy(note, key)) ?? 'wrong'
