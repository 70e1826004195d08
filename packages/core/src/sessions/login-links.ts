import { hash, randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'

/** A link signs in for ten minutes. */
const LINK_MS = 10 * 60 * 1000

/** The key that a link signs in with. */
export interface LinkedKey {
  readonly orgId: string
  readonly keyId: string
}

/** Links that sign in once, without a key. They exist in the memory of this process only. */
export class LoginLinks {
  readonly #clock: Clock
  readonly #links = new Map<string, LinkedKey & { readonly end: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the token of a new link. */
  create(key: LinkedKey): string {
    const token = randomBytes(32).toString('base64url')
    this.#links.set(hash('sha256', token), { ...key, end: this.#clock.now() + LINK_MS })
    return token
  }

  /** Uses a link up; null if it was used, is too old, or never was. */
  redeem(token: string): LinkedKey | null {
    const name = hash('sha256', token)
    const link = this.#links.get(name)
    this.#links.delete(name)
    return link && this.#clock.now() < link.end ? link : null
  }
}
