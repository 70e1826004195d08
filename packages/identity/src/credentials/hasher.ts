import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { generateText, hashKey } from '@remit/core/keys'

export interface HashedSecret {
  readonly hash: string
  readonly hash_scheme: string
}

/** SHA-256 of the whole text. */
const PLAIN = 's1'

/**
 * Hashes and checks credentials. A plain hash protects 256 random bits against readers of the
 * table. With a pepper, writers of the table cannot plant a hash either: only hashes made with a
 * known pepper are valid.
 */
export class Hasher {
  /** By the scheme in rows. */
  readonly #peppers: ReadonlyMap<string, KeyObject>
  readonly #scheme: string
  /** The hash of an unknown text, compared if there is no row. */
  readonly #nobody: HashedSecret

  /** The first pepper makes new hashes; the others only check existing ones. */
  constructor(peppers: readonly KeyObject[] = []) {
    this.#peppers = new Map(peppers.map((pepper) => [schemeOf(pepper), pepper]))
    this.#scheme = this.#peppers.keys().next().value ?? PLAIN
    this.#nobody = this.hash(generateText('rmc_'))
  }

  hash(text: string): HashedSecret {
    return { hash: this.#digest(text, this.#scheme) ?? '', hash_scheme: this.#scheme }
  }

  /** Returns whether a row has this text. Takes equal time without a row. */
  matches(text: string, row: HashedSecret | undefined): boolean {
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

/** Identifies a pepper without revealing it. */
const schemeOf = (pepper: KeyObject): string =>
  `h1:${hash('sha256', createHmac('sha256', pepper).update('name of the pepper').digest(), 'hex').slice(0, 16)}`
