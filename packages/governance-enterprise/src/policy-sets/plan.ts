import type {
  DocumentSpec,
  ObjectChange,
  ObjectKind,
  OrganizationLimits,
  Plan,
  PlanInput,
  PolicyDocument,
  PolicySetPlan,
  PropertyResult,
  TestSummary,
} from '@remit/contract'
import { fail, invalid } from '@remit/core/base'
import type { AnyDatabase } from '@remit/core/db'
import type { AdmittedDocument, Deps } from '@remit/core/module'
import { readOrganization } from '@remit/core/orgs/settings'
import { compare, digestOf, keyOf, objectDocuments } from './compare.ts'
import type { Comparison, ObjectDocument, SetState } from './compare.ts'
import { at as placed } from '../rules/overlaid.ts'
import { overlayOf } from './overlay.ts'
import { countSets, findObjects, findSet, listObjects } from './store.ts'
import { versionOf } from '../properties/rules.ts'
import { searchProperties } from '../properties/search.ts'
import { kindsOf } from './read.ts'
import type { Kinds } from './read.ts'
import { runTests } from './case-tests.ts'
import { weakens } from './weakens.ts'
import { whyApproval } from './four-eyes.ts'

const MAX_SETS = 20
/** Each can take seconds. */
const MAX_PROPERTIES = 100
/** The kinds that a replay evaluates again. */
const REPLAYED: ReadonlySet<ObjectKind> = new Set(['Settings', 'Policy', 'ApprovalRule'])

export type SetDeps = Pick<
  Deps,
  'db' | 'clock' | 'decider' | 'documents' | 'ids' | 'offered' | 'writer'
>
export interface Asker {
  readonly orgId: string
  readonly plan: Plan
}

/** How a plan is made beside other work. */
export interface Pace {
  /** Yields the thread from time to time. */
  readonly rest: () => Promise<void>
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** The `performance.now()` by which the request must be answered. */
  readonly until: number
}

/** Documents that all modules accept. */
export interface AdmittedSet {
  readonly setId: string
  readonly documents: readonly PolicyDocument[]
  readonly objects: readonly ObjectDocument[]
  /** By the place of their document. */
  readonly admitted: ReadonlyMap<number, AdmittedDocument>
  readonly kinds: Kinds
}

/** Validates documents as the endpoints of their objects would. Throws their refusals. */
export async function admitDocuments(
  deps: SetDeps,
  setId: string,
  { documents, allow_empty }: PlanInput,
  { rest }: Pace,
): Promise<AdmittedSet> {
  const kinds = kindsOf(deps)
  const objects = objectDocuments(documents, kinds)
  if (objects.length === 0 && !allow_empty)
    throw invalid('documents', 'must describe an object, unless allow_empty is true')
  if (documents.filter(({ kind }) => kind === 'Property').length > MAX_PROPERTIES)
    throw invalid('documents', `must have at most ${MAX_PROPERTIES} properties`)
  const admitted = new Map<number, AdmittedDocument>()
  for (const { at, kind, name } of objects) {
    const document = documents[at]
    const by = kinds.get(kind)
    if (!document || document.kind === 'Tests' || document.kind === 'Property' || !by) continue
    admitted.set(
      at,
      placed(`documents.${at}.spec`, () => by.admit(name, document.spec)),
    )
    await rest()
  }
  return { setId, documents, objects, admitted, kinds }
}

/** Reads what the documents of a set are compared with. */
export async function readState(
  db: AnyDatabase,
  orgId: string,
  { setId, objects, kinds }: AdmittedSet,
): Promise<SetState> {
  const set = await findSet(db, orgId, setId)
  const own = await listObjects(db, orgId, setId)
  const others = new Map<string, string>()
  const live = new Map<string, Readonly<Record<string, unknown>>>()
  for (const [name, kind] of kinds) {
    const described = objects.flatMap((one) => (one.kind === name ? [one.id] : []))
    const stored = own.flatMap((row) => (row.kind === name ? [row.object_id] : []))
    const ids = [...new Set([...described, ...stored])]
    if (ids.length === 0) continue
    for (const { id, spec } of await kind.list(db, orgId, ids)) live.set(keyOf(name, id), spec)
    for (const row of await findObjects(db, orgId, kind.kind, described))
      if (row.set_id !== setId) others.set(keyOf(name, row.object_id), row.set_id)
  }
  const gone = own.find((row) => !kinds.has(row.kind))
  // The server changes no object whose kind it lacks.
  if (gone)
    throw fail(
      'invalid_request',
      `The set has the object ${gone.kind} ${gone.name}, and this server lacks the kind ${gone.kind}`,
    )
  return { revision: set?.revision ?? 0, own, others, live }
}

export const planDigestOf = (
  { setId, documents }: AdmittedSet,
  { baseDigest }: Comparison,
): string => digestOf({ set: setId, base_digest: baseDigest, documents })

/** Documents beside the organization at a version of its configuration. */
export interface ComparedSet {
  readonly comparison: Comparison
  readonly digest: string
  readonly version: number
}

/** The results of the checks among the documents. */
export interface CheckedRules {
  readonly tests: TestSummary
  readonly properties: readonly PropertyResult[]
}

export async function compareSet(
  { db }: Pick<SetDeps, 'db'>,
  orgId: string,
  set: AdmittedSet,
): Promise<ComparedSet> {
  const version = await versionOf(db, orgId)
  const comparison = compare(set.objects, await readState(db, orgId, set), set.kinds)
  return { comparison, digest: planDigestOf(set, comparison), version }
}

/** Throws the refusal of a change that does not fit to the objects as they would be after all changes. */
async function checkTarget(
  db: AnyDatabase,
  orgId: string,
  { kinds }: AdmittedSet,
  { changes }: Comparison,
  { rest }: Pace,
): Promise<void> {
  for (const [name, kind] of kinds) {
    const own = changes.filter((one) => one.kind === name && one.change !== 'release')
    if (own.length === 0 || !kind.checkAmong) continue
    const changed = new Set(own.map(({ object_id: id }) => id))
    const check = kind.checkAmong([
      ...(await kind.list(db, orgId)).filter(({ id }) => !changed.has(id)),
      ...own.flatMap(({ object_id: id, after }) => (after ? [{ id, spec: after }] : [])),
    ])
    for (const { at, object_id: id, before, after } of own) {
      const path = at === null ? `${name} ${id}` : `documents.${at}.spec`
      placed(path, () => check({ id, before, after }))
      await rest()
    }
  }
}

/** Checks the objects, and runs the tests and the searches of properties, in the organization as it would be. */
export async function checkRules(
  deps: SetDeps,
  asker: Asker,
  set: AdmittedSet,
  { comparison }: ComparedSet,
  pace: Pace,
): Promise<CheckedRules> {
  await checkTarget(deps.db, asker.orgId, set, comparison, pace)
  const rules = overlayOf(comparison, set.objects)
  const tests = await runTests(deps, asker, set, rules, pace.signal)
  const named = set.documents.flatMap((one) => (one.kind === 'Property' ? [one] : []))
  const properties = await searchProperties(deps, asker.orgId, rules, named, pace)
  return { tests, properties }
}

/** Returns what applying documents would change, without changing anything. */
export async function planSet(
  deps: SetDeps,
  asker: Asker,
  set: AdmittedSet,
  { replay: period }: Pick<PlanInput, 'replay'>,
  pace: Pace,
): Promise<PolicySetPlan> {
  await checkSets(deps.db, asker.orgId, set.setId)
  const compared = await compareSet(deps, asker.orgId, set)
  const { comparison, digest } = compared
  const { tests, properties } = await checkRules(deps, asker, set, compared, pace)
  const replays = deps.offered('replays')
  const replay =
    period && replays
      ? await replays.count(asker.orgId, overlayOf(comparison, set.objects).overlay, period)
      : null
  const changes = wireChanges(comparison, set, deps.clock.now())
  const { settings, limits } = await readOrganization(deps.db, asker.orgId)
  const why = whyApproval(settings.rule_changes, changes)
  return {
    plan_digest: digest,
    base_digest: comparison.baseDigest,
    changes,
    unchanged: comparison.unchanged,
    drift: [...comparison.drift],
    tests,
    properties: [...properties],
    replay,
    approval: { required: why !== null, why },
    warnings: [
      ...(await passedLimits(deps.db, asker.orgId, comparison, set.kinds, limits)),
      ...comparison.foreign.map(
        (one) => `${one.kind} ${one.name} belongs to the policy set ${one.set}`,
      ),
      ...(period && !replays ? ['this server cannot replay decisions'] : []),
      ...(replay && comparison.changes.some(({ kind }) => !REPLAYED.has(kind))
        ? ['spend limits, budgets, permissions, modes and trust policies are not replayed']
        : []),
    ],
  }
}

/** Describes the limits that changes would pass, which apply refuses. */
async function passedLimits(
  db: AnyDatabase,
  orgId: string,
  { changes }: Comparison,
  kinds: Kinds,
  organization: OrganizationLimits,
): Promise<string[]> {
  const passed: string[] = []
  for (const [name, kind] of kinds) {
    const own = changes.filter((one) => one.kind === name && one.change !== 'release')
    const limits = kind.limits?.(organization) ?? []
    if (limits.length === 0 || !own.some(({ after }) => after)) continue
    const changed = new Set(own.map(({ object_id: id }) => id))
    const others = (await kind.list(db, orgId)).filter(({ id }) => !changed.has(id))
    for (const limit of limits) {
      const { code, most } = limit
      const count = (side: 'before' | 'after') => {
        const specs = [...others.map(({ spec }) => spec), ...own.flatMap((one) => one[side] ?? [])]
        const counted = specs.flatMap((spec) => limit.countsFor(spec as DocumentSpec<ObjectKind>))
        return new Map(
          [...Map.groupBy(counted, (one) => one)].map(([one, all]) => [one, all.length]),
        )
      }
      const before = count('before')
      for (const [one, number] of count('after'))
        if (number > Math.max(most, before.get(one) ?? 0))
          passed.push(`${code}: ${number} would count, and at most ${most} may; apply will refuse`)
    }
  }
  return passed
}

export async function checkSets(db: AnyDatabase, orgId: string, setId: string): Promise<void> {
  if (!(await findSet(db, orgId, setId)) && (await countSets(db, orgId)) >= MAX_SETS)
    throw fail('too_many_policy_sets')
}

export const wireChanges = (
  { changes }: Comparison,
  { admitted }: AdmittedSet,
  now: number,
): ObjectChange[] =>
  changes.map(({ at, ...change }) => ({
    ...change,
    weakens: weakens(change),
    warnings: [...((at === null ? null : admitted.get(at))?.warnings(now) ?? [])],
  }))
