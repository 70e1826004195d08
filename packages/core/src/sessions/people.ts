import type { Caller } from '../caller/caller.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'

/** Sign-in of people, provided by the module that knows them. */
export interface PeopleSessions {
  /** The configured identity provider; null without one. */
  readonly login: { readonly label: string } | null
  /** Returns the entry that records a sign-out. */
  signedOut(caller: Caller): EntryDraft
  /** Returns the URL that ends the session at the identity provider; null where it has none. */
  signOutUrl(): Promise<string | null>
}
