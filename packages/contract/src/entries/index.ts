import type { z } from 'zod'
import type { Actor } from '../ledger.ts'
import { agentKinds } from './agents.ts'
import { approvals } from './approvals.ts'
import { decisions } from './decisions.ts'
import { guard } from './guard.ts'
import { hosts } from './hosts.ts'
import { ledger } from './ledger.ts'
import { organizationKinds } from './organization.ts'
import { reports } from './reports.ts'
import type { EntryKindRow } from './row.ts'
import { rules } from './rules.ts'

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
}

/** An entry of the server to append: everything except its position in the chain. */
export type EntryDraft<Kind extends EntryKind = EntryKind> = {
  readonly [K in Kind]: Head & AgentOf<K> & { readonly kind: K; readonly data: EntryData<K> }
}[Kind]

/** A JSON object with members of any name. */
export type RecordedJson = Readonly<Record<string, unknown>>

/** A value of an entry; null where it is missing or of another type. */
type Found<T> = unknown extends T
  ? unknown
  : [T] extends [string]
    ? string | null
    : [T] extends [number]
      ? number | null
      : [T] extends [boolean]
        ? boolean | null
        : [T] extends [readonly (infer Item)[]]
          ? readonly NonNullable<Found<NonNullable<Item>>>[] | null
          : [T] extends [object]
            ? string extends keyof T
              ? RecordedJson | null
              : { readonly [Name in keyof T]-?: Found<NonNullable<T[Name]>> } | null
            : unknown

type Read = (value: unknown) => unknown

export const isRecord = (value: unknown): value is RecordedJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const READERS = new WeakMap<z.core.$ZodType, Read>()

/** Returns the reader of a schema, built once. It gives null for a value of another type. */
function readerOf(schema: z.core.$ZodType): Read {
  let read = READERS.get(schema)
  if (!read) READERS.set(schema, (read = build(schema as z.ZodType)))
  return read
}

function build(schema: z.ZodType): Read {
  const def = schema.def as z.core.$ZodTypes['_zod']['def']
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
      return readerOf(def.innerType)
    case 'string':
    case 'enum':
      return ofType('string')
    case 'number':
      return (schema as z.ZodNumber).format === 'safeint' ? count : ofType('number')
    case 'boolean':
      return ofType('boolean')
    case 'literal':
      return ofType(typeof def.values[0])
    case 'record':
      return (value) => (isRecord(value) ? value : null)
    case 'array': {
      const read = readerOf(def.element)
      const items = (list: readonly unknown[]) => list.map(read).filter((item) => item !== null)
      return (value) => (Array.isArray(value) ? items(value) : null)
    }
    case 'object':
      return objectReader(def.shape)
    case 'union': {
      const reads = def.options.map(readerOf)
      return (value) => reads.map((read) => read(value)).find((found) => found !== null) ?? null
    }
    case 'unknown':
      return (value) => value
    case 'null':
      return () => null
    default:
      throw new TypeError(`The catalogue of entries has no reader for ${def.type}`)
  }
}

const ofType =
  (type: string): Read =>
  (value) =>
    typeof value === type ? value : null

/** A whole number of an entry is a count or a place: from 0 to 2^53 - 1. */
const count: Read = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? value : null

/** Reads members on access: few readers need them all. */
function objectReader(shape: z.core.$ZodShape): Read {
  class Reading {
    readonly #raw: RecordedJson
    constructor(raw: RecordedJson) {
      this.#raw = raw
    }
    toJSON() {
      return this.#raw
    }
    static {
      for (const [name, schema] of Object.entries(shape)) {
        const read = readerOf(schema)
        Object.defineProperty(this.prototype, name, {
          get(this: Reading) {
            return read(this.#raw[name])
          },
        })
      }
    }
  }
  return (value) => (isRecord(value) ? new Reading(value) : null)
}
