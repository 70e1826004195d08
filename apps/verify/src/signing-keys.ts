import { isSignedBy, readKey } from './note.ts'
import type { Checkpoint, Key } from './note.ts'

/** The signer of a checkpoint: a key, an invalid signature, or an unknown key. */
export type Signer = Key | 'wrong' | 'unknown'

/**
 * The signing keys by size, as the ledger itself declares them, and their trust
 * (docs/ledger-format.md section 6). The declaration alone proves nothing: a rewritten ledger can
 * declare other keys.
 */
export class SigningKeys {
  /** In order of `from`: the smallest size of a checkpoint that the key signs. */
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

  /** The key in force after the last entry; null if the ledger has named none. */
  get current(): string | null {
    return this.#named.at(-1)?.key.vkey ?? null
  }

  isTrusted(vkey: string): boolean {
    return this.#trusted.has(vkey)
  }

  /** Sets the key of genesis, or of the start of an export. False for an invalid key. */
  first(vkey: unknown): boolean {
    return this.#name(vkey, 0)
  }

  /**
   * Handles a rotation by entry `seq`. The checkpoint of size `seq` + 1 ends with it and is still
   * signed by the old key, larger ones by the new key. False unless the old key is the one in
   * force.
   */
  rotate(seq: number, old: unknown, next: unknown): boolean {
    const { current } = this
    // A partial export declares the previous key only here.
    const known = current === null ? this.#name(old, 0) : current === old
    return known && this.#name(next, seq + 2)
  }

  signerOf({ note, size }: Checkpoint): Signer {
    const named = this.#named.findLast(({ from }) => from <= size)?.key
    if (named === undefined && !this.hasPinned) return 'unknown'
    return firstOf(note, named === undefined ? this.#pinned : [named])
  }

  /**
   * Returns the next key if it is trusted and signed this checkpoint too, which is the last of the
   * old key.
   */
  successorOf({ note, size }: Checkpoint): Key | null {
    const next = this.#named.find(({ from }) => from === size + 1)?.key
    return next !== undefined && this.isTrusted(next.vkey) && isSignedBy(note, next) ? next : null
  }

  /** Like `signerOf` beyond the last entry, where the missing entries may include a rotation. */
  signerBeyond(checkpoint: Checkpoint): Signer {
    const signer = this.signerOf(checkpoint)
    return signer === 'wrong' ? firstOf(checkpoint.note, this.#pinned) : signer
  }

  /**
   * Returns true if any key signed it that the ledger declared, that is pinned, or that `also` is.
   */
  isSignedByAny({ note }: Checkpoint, also: unknown): boolean {
    const other = typeof also === 'string' ? readKey(also) : null
    const keys = [...this.#named.map(({ key }) => key), ...this.#pinned, ...(other ? [other] : [])]
    return keys.some((key) => isSignedBy(note, key))
  }

  /**
   * Records a key that signed the correct root of this size: if it is trusted, so is its successor.
   */
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
