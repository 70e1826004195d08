import type { z } from 'zod'
import type { Actor } from '../ledger.ts'
import { agentKinds } from './agents.ts'
import { approvals } from './approvals.ts'
import { decisions } from './decisions.ts'
import { guard } from './guard.ts'
import { hosts } from './hosts.ts'
import { ledger } from './ledger.ts'
import { organizationKinds } from './organization.ts'
import { isRecord, readerOf } from './reading.ts'
import type { Found } from './reading.ts'
import { reports } from './reports.ts'
import type { EntryKindRow } from './row.ts'
import { rules } from './rules.ts'

export { isRecord } from './reading.ts'
export type { RecordedJson } from './reading.ts'
export type { EntryChange, EntryKindRow, SnapshotPart } from './row.ts'

/** The kinds by the headings of docs/entry-kinds.md. */
export const ENTRY_GROUPS = {
  Decisions: decisions,
  'Agent hosts': hosts,
  Approvals: approvals,
  'Changes of rules': rules,
  'Agents, credentials, issuers': agentKinds,
  'The organization': organizationKinds,
  'Guard and scorers': guard,
  'Reports and previews': reports,
  'The ledger itself': ledger,
} as const

/** Every kind of ledger entry that the server writes. */
export const ENTRIES = {
  ...decisions,
  ...hosts,
  ...approvals,
  ...rules,
  ...agentKinds,
  ...organizationKinds,
  ...guard,
  ...reports,
  ...ledger,
} as const

export type EntryKind = keyof typeof ENTRIES

/** The kinds that are events of webhooks. */
export type EventKind = {
  [Kind in EntryKind]: (typeof ENTRIES)[Kind]['event'] extends null ? never : Kind
}[EntryKind]

const KINDS: ReadonlyMap<string, EntryKindRow> = new Map(Object.entries(ENTRIES))

/** Returns the row of a kind; undefined for one of another release. */
export const rowOf = (kind: string): EntryKindRow | undefined => KINDS.get(kind)

type Recorded<T> = unknown extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Recorded<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: Recorded<T[Name]> }
      : T

/** The `data` of an entry as it is written. */
export type EntryData<Kind extends EntryKind> = Recorded<z.infer<(typeof ENTRIES)[Kind]['data']>>

/** The `data` of an entry as `readData` finds it: every member or null, and no bad items in lists. */
export type EntryReading<Kind extends EntryKind> = Kind extends EntryKind
  ? NonNullable<Found<EntryData<Kind>>>
  : never

/**
 * Reads the `data` of an entry without trust in its shape: it can be old, of a newer release, or
 * tampered with. Never throws. A member is null if it is missing or has another type than the kind
 * says; texts are not compared with the values that the kind knows. Members are read on access, so a
 * copy with `...` has none; as JSON it is what was recorded.
 */
export const readData = <Kind extends EntryKind>(kind: Kind, data: unknown): EntryReading<Kind> =>
  readerOf(ENTRIES[kind].data)(isRecord(data) ? data : {}) as EntryReading<Kind>

type AgentOf<Kind extends EntryKind> = {
  readonly always: { readonly agent_id: string }
  readonly sometimes: { readonly agent_id?: string | null }
  readonly never: { readonly agent_id?: null }
}[(typeof ENTRIES)[Kind]['agent']]

interface Head {
  readonly actor: Actor
  readonly action?: string | null
  readonly resource?: string | null
  readonly decision?: string | null
  readonly reason?: string | null
  /** The object before the change, for observers of changes; null for a new one. It is not recorded. */
  readonly replaced?: object | null
}

/** An entry of the server to append: everything except its position in the chain. */
export type EntryDraft<Kind extends EntryKind = EntryKind> = {
  readonly [K in Kind]: Head & AgentOf<K> & { readonly kind: K; readonly data: EntryData<K> }
}[Kind]
