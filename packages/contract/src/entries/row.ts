import { z } from 'zod'
import type { WebhookEvent } from '../webhooks.ts'

/** The parts of the cached rules of an organization. */
export type SnapshotPart =
  | 'agents'
  | 'approval_rules'
  | 'budgets'
  | 'modes'
  | 'permissions'
  | 'policies'
  | 'spend_limits'
  | 'stops'

/** The effect of an administrative entry on its object. */
export interface EntryChange {
  readonly area: 'iam' | 'configuration'
  readonly does: 'creation' | 'change' | 'deletion'
}

/** The webhook event of a kind. */
export interface EntryEvent {
  readonly is: WebhookEvent
  /** Only for entries with this decision. */
  readonly on?: 'deny'
  /** The members of a message, of the entry or of its `data`; or all of `data`. */
  readonly sends: readonly string[] | 'data'
}

/** One kind of ledger entry: its shape, and what the server does with such entries. */
export interface EntryKindRow<Data extends z.ZodObject = z.ZodObject> {
  /** When it is written, for docs/entry-kinds.md. */
  readonly says: string
  /**
   * The members of `data`, strict for writers. Descriptions are shown in docs/entry-kinds.md. A new
   * member is optional: earlier entries lack it.
   */
  readonly data: Data
  /** States when the entry has an `agent_id`. Credentials of that agent may read such an entry. */
  readonly agent: 'always' | 'sometimes' | 'never'
  /** The event of webhooks, and what a message says about the entry. */
  readonly event: EntryEvent | null
  /**
   * The entries that pruning carries over: every entry (`state`), the last one (`last`), those of approval
   * requests that are open at the cut (`open_request`), or none.
   */
  readonly carried: 'state' | 'last' | 'open_request' | 'no'
  /** The administrative change for sinks; its object is the first part of the kind. */
  readonly change: EntryChange | null
  /**
   * The cached rules that it can change; `all` unless proven narrower. It never grows: processes of an earlier
   * release keep what their row does not name. A change of more appends a further entry.
   */
  readonly touches: readonly SnapshotPart[] | 'all'
}

/** Rows by kind. */
export type EntryRows = Readonly<Record<string, EntryKindRow>>

/** The columns of an event, which changes no state. */
export const EVENT = { event: null, carried: 'no', change: null, touches: [] } as const

/** The person of the key or session that made a change. */
export const by = { person: z.string().optional() }

/** A JSON object with members of any name. */
export const json = z.record(z.string(), z.unknown())
