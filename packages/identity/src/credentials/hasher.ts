import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { generateText, hashKey } from '@remit/core'

/** How a secret is kept: its hash, and how the hash was made. */
export interface Hashed {
  readonly hash: string
  readonly hash_scheme: string
}

/** SHA-256 of the whole text. */
const PLAIN = 's1'

/**
 * Hashes credentials and checks them. A plain hash is enough against who reads the table: nobody
 * guesses 256 random bits. With a pepper, who can write the table cannot plant a hash either: then
 * only hashes that were made with a known pepper count.
 */
export class Hasher {
  /** By the name that rows have them under. */
  readonly #peppers: ReadonlyMap<string, KeyObject>
  readonly #scheme: string
  /** Of a text that nobody has, to be compared where there is no row. */
  readonly #nobody: Hashed

  /** The first pepper makes new hashes; the others still check what they made. */
  constructor(peppers: readonly KeyObject[] = []) {
    this.#peppers = new Map(peppers.map((pepper) => [schemeOf(pepper), pepper]))
    this.#scheme = this.#peppers.keys().next().value ?? PLAIN
    this.#nobody = this.hash(generateText('rmc_'))
  }

  hash(text: string): Hashed {
    return { hash: this.#digest(text, this.#scheme) ?? '', hash_scheme: this.#scheme }
  }

  /** Whether a row keeps this text. Takes the same time without a row. */
  matches(text: string, row: Hashed | undefined): boolean {
    const kept = row ?? this.#nobody
    const made = this.#digest(text, kept.hash_scheme)
    if (made === null || made.length !== kept.hash.length) return false
    return timingSafeEqual(Buffer.from(made), Buffer.from(kept.hash)) && row !== undefined
  }

  #digest(text: string, scheme: string): string | null {
    if (scheme === PLAIN) return this.#peppers.size === 0 ? hashKey(text) : null
    const pepper = this.#peppers.get(scheme)
    return pepper ? createHmac('sha256', pepper).update(text).digest('hex') : null
  }
}

/** Tells peppers apart and nothing about them. */
const schemeOf = (pepper: KeyObject): string =>
  `h1:${hash('sha256', createHmac('sha256', pepper).update('name of the pepper').digest(), 'hex').slice(0, 16)}`
