import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { CHECK_KINDS, OBJECT_KINDS, SETTINGS_ID } from '@remit/contract'
import type { Drift, ObjectChange, ObjectKind, PolicyDocument } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { invalid, isoTime } from '@remit/core/base'
import type { DocumentKind } from '@remit/core/module'
import type { PolicySetObjectRow } from '../tables/policy-sets.ts'

export type Spec = Readonly<Record<string, unknown>>

/** A document of an object, with its place among the documents. */
export interface ObjectDocument {
  readonly at: number
  readonly kind: ObjectKind
  readonly name: string
  readonly id: string
  readonly spec: Spec
}

/** The stored state that documents are compared with. */
export interface SetState {
  /** 0 for a set that does not exist. */
  readonly revision: number
  /** The objects of the set. */
  readonly own: readonly PolicySetObjectRow[]
  /** The sets of other objects that documents describe, by `keyOf`. */
  readonly others: ReadonlyMap<string, string>
  /** The objects as they are, by `keyOf`. */
  readonly live: ReadonlyMap<string, Spec>
}

/** The changes that documents would make. */
export interface Comparison {
  /** In the order in which they are made. */
  readonly changes: readonly (Omit<ObjectChange, 'warnings' | 'weakens'> & {
    readonly at: number | null
  })[]
  readonly unchanged: number
  readonly drift: readonly Drift[]
  /** Drift that applying the documents would overwrite. */
  readonly overwritten: readonly Drift[]
  /** Documents of objects that belong to another set. */
  readonly foreign: readonly (ObjectDocument & { readonly set: string })[]
  readonly baseDigest: string
}

export const keyOf = (kind: string, id: string): string => `${kind} ${id}`

/** base64url SHA-256 of the canonical JSON of a value; undefined members are left out. */
export const digestOf = (value: unknown): string =>
  hash('sha256', canonicalJson(JSON.parse(JSON.stringify(value))), 'base64url')

/** Returns the documents of objects; throws `invalid_request` if two describe the same object. */
export function objectDocuments(
  documents: readonly PolicyDocument[],
  kinds: ReadonlyMap<string, DocumentKind>,
): ObjectDocument[] {
  const seen = new Map<string, number>()
  const take = (key: string, at: number) => {
    const before = seen.get(key)
    if (before !== undefined)
      throw invalid(`documents.${at}.name`, `is also the object of documents.${before}`)
    seen.set(key, at)
  }
  return documents.flatMap(({ kind: name_, name, spec }, at) => {
    take(`name ${keyOf(name_, name)}`, at)
    if (name_ === 'Tests' || name_ === 'Property') return []
    const kind = kinds.get(name_)
    if (!kind)
      throw invalid(
        `documents.${at}.kind`,
        `must be a kind of this server: ${[...kinds.keys(), ...CHECK_KINDS].join(', ')}`,
      )
    const id = kind.idOf(name, spec)
    take(`id ${keyOf(name_, id)}`, at)
    return [{ at, kind: name_, name, id, spec: normal(spec) }]
  })
}

const TIMES = ['not_before', 'expires_at']

/** A spec as its object has it once it is stored. */
function normal(spec: Spec): Spec {
  const times = TIMES.flatMap((name) => {
    const text = spec[name]
    return typeof text === 'string' ? [[name, isoTime(Date.parse(text))] as const] : []
  })
  return { ...spec, ...Object.fromEntries(times) }
}

/** Returns whether an object has every member that a document names; others are the server's. */
export const isAs = (live: Spec | undefined, spec: Spec): live is Spec =>
  live !== undefined &&
  Object.entries(spec).every(
    ([name, value]) => value === undefined || isDeepStrictEqual(live[name], value),
  )

/** Compares documents with the stored state. Pure. */
export function compare(
  documents: readonly ObjectDocument[],
  { revision, own, others, live }: SetState,
  kinds: ReadonlyMap<string, DocumentKind>,
): Comparison {
  const stored = new Map(own.map((row) => [keyOf(row.kind, row.object_id), row]))
  const described = new Map(documents.map((one) => [keyOf(one.kind, one.id), one]))
  // Settings are in a set one by one.
  const settings = keyOf('Settings', SETTINGS_ID)
  const part = stored.get(settings)
  const had = part ? specIn(part) : {}
  const has = described.get(settings)?.spec ?? {}
  const left = Object.fromEntries(Object.entries(had).filter(([name]) => !Object.hasOwn(has, name)))
  const seen = (key: string, ...named: readonly Spec[]): Spec | null => {
    const one = live.get(key) ?? null
    return key === settings ? partOf(one, ...named) : one
  }
  const changes: Comparison['changes'][number][] = []
  const foreign: (ObjectDocument & { set: string })[] = []
  let unchanged = 0
  for (const [key, one] of described) {
    const { at, kind, name, id: object_id, spec } = one
    const set = others.get(key)
    if (set !== undefined) foreign.push({ ...one, set })
    const before = seen(key, spec)
    const row = stored.get(key)
    const isSame = isAs(live.get(key), spec)
    const isNew =
      key === settings && Object.keys(spec).some((member) => !Object.hasOwn(had, member))
    if (isSame && row?.name === name && !isNew) unchanged++
    else {
      const change = before === null ? 'create' : isSame || !row ? 'adopt' : 'replace'
      changes.push({ at, kind, name, object_id, change, before, after: spec })
    }
  }
  for (const [key, { kind, name, object_id }] of stored) {
    const isLeft = key === settings ? Object.keys(left).length > 0 : !described.has(key)
    if (!isLeft) continue
    const before = seen(key, left)
    const isDeleted = before !== null && kinds.get(kind)?.remove !== null
    const change = isDeleted ? 'delete' : 'release'
    changes.push({
      at: null,
      kind: kind as ObjectKind,
      name,
      object_id,
      change,
      before,
      after: null,
    })
  }
  const drift = own.flatMap((row) => driftOf(row, live.get(keyOf(row.kind, row.object_id))))
  const keys = [...new Set([...stored.keys(), ...described.keys()])].toSorted()
  return {
    changes: inOrder(changes),
    unchanged,
    drift,
    overwritten: drift.filter((one) => {
      const key = keyOf(one.kind, one.object_id)
      const wanted = described.get(key)
      return wanted ? !isAs(live.get(key), wanted.spec) : live.has(key)
    }),
    foreign,
    baseDigest: digestOf({ revision, objects: keys.map((key) => [key, seen(key, had, has)]) }),
  }
}

export const specIn = ({ spec }: Pick<PolicySetObjectRow, 'spec'>): Spec => JSON.parse(spec) as Spec

/** The members of an object that others name. */
export const partOf = (spec: Spec | null, ...named: readonly Spec[]): Spec | null =>
  spec &&
  Object.fromEntries(
    Object.entries(spec).filter(([name]) => named.some((one) => Object.hasOwn(one, name))),
  )

/** Returns how an object differs from the one that was applied; nothing if it does not. */
export function driftOf(row: PolicySetObjectRow, live: Spec | undefined): Drift[] {
  if (isAs(live, specIn(row))) return []
  return [
    {
      kind: row.kind as ObjectKind,
      name: row.name,
      object_id: row.object_id,
      change: live ? 'changed' : 'deleted',
      by: row.changed_by,
      seq: row.changed_seq,
      at: row.changed_at,
    },
  ]
}

/** Deletions first, of children before their parents; then the kinds in turn, parents first. */
function inOrder<C extends Omit<ObjectChange, 'warnings' | 'weakens'>>(changes: readonly C[]): C[] {
  const isGone = ({ change }: C) => change === 'delete' || change === 'release'
  const gone = changes.filter(isGone)
  const kept = changes.filter((one) => !isGone(one))
  return [
    ...parentsFirst(gone, ({ before }) => before).toReversed(),
    ...OBJECT_KINDS.flatMap((kind) =>
      parentsFirst(
        kept.filter((one) => one.kind === kind),
        ({ after }) => after,
      ),
    ),
  ]
}

function parentsFirst<C extends { readonly object_id: string }>(
  changes: readonly C[],
  specOf: (one: C) => Spec | null,
): C[] {
  const byId = new Map(changes.map((one) => [one.object_id, one]))
  const ordered = new Set<C>()
  const add = (one: C, above: ReadonlySet<C>) => {
    const parentId = specOf(one)?.['parent_id']
    const parent = typeof parentId === 'string' ? byId.get(parentId) : undefined
    if (parent && !above.has(parent)) add(parent, new Set([...above, one]))
    ordered.add(one)
  }
  for (const one of changes) add(one, new Set([one]))
  return [...ordered]
}
