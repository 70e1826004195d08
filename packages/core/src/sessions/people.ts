import { hash, randomBytes } from 'node:crypto'
import type { PersonRole } from '@remit/contract'
import type { Caller } from '../caller/caller.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import type { Clock } from '../base/clock.ts'

/** A person who can decide; `names` as of `namesOf`. */
export interface Decider {
  readonly id: string
  /** The current address. */
  readonly email: string
  readonly role: PersonRole
  readonly names: readonly string[]
}

/** Sign-in of people, provided by the module that knows them. */
export interface PeopleSessions {
  /** The identity provider of the server; null without one. */
  readonly login: { readonly label: string } | null
  /** Returns true if an organization has an identity provider of its own. */
  hasOrganizationLogins(): Promise<boolean>
  /**
   * Returns the names of one person by any of them: the id first, then every verified address, the
   * current one first. Null for an unknown name.
   */
  namesOf(db: AnyDatabase, orgId: string, name: string): Promise<readonly string[] | null>
  /** Returns the active people of an organization whose role can decide, at most 1,000. */
  deciders(db: AnyDatabase, orgId: string): Promise<readonly Decider[]>
  signedOut(caller: Caller): EntryDraft
  /**
   * Returns the URL that ends the session of a person at the identity provider; null where it has
   * none.
   */
  signOutUrl(caller: Caller): Promise<string | null>
}

/** A link signs in for ten minutes. */
const LINK_MS = 10 * 60 * 1000

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
