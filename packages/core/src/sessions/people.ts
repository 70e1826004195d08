import type { PersonRole } from '@remit/contract'
import type { Caller } from '../caller/caller.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'

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
  /** Returns the entry that records a sign-out. */
  signedOut(caller: Caller): EntryDraft
  /**
   * Returns the URL that ends the session of a person at the identity provider; null where it has
   * none.
   */
  signOutUrl(caller: Caller): Promise<string | null>
}
