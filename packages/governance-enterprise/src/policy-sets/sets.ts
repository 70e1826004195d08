import type {
  ApplyInput,
  Drift,
  ObjectChange,
  ObjectKind,
  Plan,
  PlanInput,
  PolicyDocument,
  PolicySet,
  PolicySetPlan,
  PropertyResult,
  TestSummary,
} from '@remit/contract'
import { existing, fail, Failure, invalid } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import { on } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { firstOf, receipted, recording } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, LedgerScope, WorkOrigin } from '@remit/core/ledger/lanes'
import type { AdmittedDocument, Deps } from '@remit/core/module'
import { compare, digestOf, isAs, keyOf, objectDocuments } from './compare.ts'
import type { Comparison, ObjectDocument, SetState } from './compare.ts'
import { at as placed } from '../rules/overlaid.ts'
import { overlayOf } from './overlay.ts'
import {
  countSets,
  deleteObjects,
  deleteSet,
  findObjects,
  findSet,
  listObjects,
  putObjects,
  putSet,
} from './store.ts'
import { searchProperties } from '../properties/search.ts'
import { kindsOf, readSet } from './read.ts'
import type { Kinds } from './read.ts'
import { runTests } from './case-tests.ts'
import { weakens } from './weakens.ts'
import type { PolicySetRow } from '../tables/policy-sets.ts'

const MAX_SETS = 20
/** Each can take seconds. */
const MAX_PROPERTIES = 100
/** The kinds that a replay evaluates again. */
const REPLAYED: ReadonlySet<ObjectKind> = new Set(['Settings', 'Policy', 'ApprovalRule'])
/** The configuration can change while tests run; they then run again. */
const MAX_ATTEMPTS = 3

type SetDeps = Pick<Deps, 'db' | 'clock' | 'decider' | 'documents' | 'offered' | 'writer'>
interface Asker {
  readonly orgId: string
  readonly plan: Plan
}

/** How a plan is made beside other work. */
export interface Pace {
  /** Yields the thread from time to time. */
  readonly rest: () => Promise<void>
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

/** Documents that all modules accept. */
interface AdmittedSet {
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
async function readState(
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
  if (gone)
    throw fail(
      'not_found',
      `The set has an object of the kind ${gone.kind}, which this server lacks`,
    )
  return { revision: set?.revision ?? 0, own, others, live }
}

const planDigestOf = ({ setId, documents }: AdmittedSet, { baseDigest }: Comparison): string =>
  digestOf({ set: setId, base_digest: baseDigest, documents })

/** A plan, with what applying it needs. */
interface PlanMade {
  readonly comparison: Comparison
  readonly digest: string
  readonly tests: TestSummary
  readonly properties: readonly PropertyResult[]
  /** Of the organization when the tests ran. */
  readonly version: number
}

async function makePlan(
  deps: SetDeps,
  asker: Asker,
  set: AdmittedSet,
  { signal }: Pace,
): Promise<PlanMade> {
  const { db } = deps
  const version = await versionOf(db, asker.orgId)
  const state = await readState(db, asker.orgId, set)
  const comparison = compare(set.objects, state, set.kinds)
  const digest = planDigestOf(set, comparison)
  const rules = overlayOf(comparison, set.objects)
  const tests = await runTests(deps, asker, set, rules, signal)
  const named = set.documents.flatMap((one) => (one.kind === 'Property' ? [one] : []))
  const properties = await searchProperties(deps, asker.orgId, rules.overlay, named, signal)
  return { comparison, digest, tests, properties, version }
}

async function versionOf(db: AnyDatabase, orgId: string): Promise<number> {
  const head = await on<CoreTables>(db)
    .selectFrom('ledger_head')
    .select('config_version')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return head?.config_version ?? 0
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
  const { comparison, digest, tests, properties } = await makePlan(deps, asker, set, pace)
  const replays = deps.offered('replays')
  const replay =
    period && replays
      ? await replays.count(asker.orgId, overlayOf(comparison, set.objects).overlay, period)
      : null
  return {
    plan_digest: digest,
    base_digest: comparison.baseDigest,
    changes: wireChanges(comparison, set, deps.clock.now()),
    unchanged: comparison.unchanged,
    drift: [...comparison.drift],
    tests,
    properties: [...properties],
    replay,
    warnings: [
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

async function checkSets(db: AnyDatabase, orgId: string, setId: string): Promise<void> {
  if (!(await findSet(db, orgId, setId)) && (await countSets(db, orgId)) >= MAX_SETS)
    throw fail('too_many_policy_sets')
}

const wireChanges = (
  { changes }: Comparison,
  { admitted }: AdmittedSet,
  now: number,
): ObjectChange[] =>
  changes.map(({ at, ...change }) => ({
    ...change,
    weakens: weakens(change),
    warnings: [...((at === null ? null : admitted.get(at))?.warnings(now) ?? [])],
  }))

interface Applied {
  readonly revision: number
  readonly digest: string
  readonly changes: ObjectChange[]
}

/** Applies a plan in one change, or nothing of it. */
export async function applySet(
  deps: SetDeps,
  asker: Asker,
  set: AdmittedSet,
  input: ApplyInput,
  origin: WorkOrigin,
  pace: Pace,
): Promise<Applied> {
  for (let attempt = 1; ; attempt++) {
    try {
      const plan = await makePlan(deps, asker, set, pace)
      refuse(plan, input)
      const apply = applyChange(set, plan, input, pace)
      return await deps.writer.change(asker.orgId, origin, async (scope, caller) => {
        if (scope.configVersion !== plan.version) throw fail('rules_changed')
        return apply(scope, caller)
      })
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'rules_changed') throw error
      if (attempt >= MAX_ATTEMPTS)
        throw fail('plan_stale', 'The configuration changes faster than its tests run')
    }
  }
}

/** A search without a result is not enough where a proof is required. */
const holds = ({ result, require }: PropertyResult): boolean =>
  result === 'proved' || (result === 'searched' && require === 'searched')

/** Throws if the plan is not the one that was asked for, would overwrite drift, or does not pass its checks. */
function refuse({ comparison, digest, tests, properties }: PlanMade, input: ApplyInput): void {
  const { baseDigest, overwritten, foreign } = comparison
  if (digest !== input.plan_digest)
    throw fail('plan_stale', 'The objects or the documents are not those of the plan', {
      extensions: { base_digest: baseDigest },
    })
  if (overwritten.length > 0 && !input.overwrite_drift)
    throw fail('drifted', describe(overwritten), { extensions: { drift: overwritten } })
  const [other] = foreign
  if (other)
    throw fail(
      'managed_by_policy_set',
      `documents.${other.at}: ${other.kind} ${other.name} belongs to the policy set ${other.set}`,
      { extensions: { policy_set: other.set } },
    )
  if (tests.failed > 0)
    throw fail('tests_failed', `${tests.failed} tests fail`, { extensions: { tests } })
  const failing = properties.find((one) => !holds(one))
  if (!failing) return
  const { name, result, counterexample, because } = failing
  throw fail('property_violated', `The property ${name} is ${result}`, {
    extensions: { property: name, result, counterexample, because },
  })
}

const describe = (drift: readonly Drift[]): string =>
  `${drift
    .slice(0, 5)
    .map(
      ({ kind, name, change, by }) =>
        `${kind} ${name} was ${change}${by === null ? '' : ` by ${by}`}`,
    )
    .join(
      ', ',
    )}${drift.length > 5 ? ` and ${drift.length - 5} more` : ''}; overwrite_drift replaces it`

const applyChange =
  (
    set: AdmittedSet,
    { comparison, digest, tests, properties }: PlanMade,
    input: ApplyInput,
    { rest }: Pace,
  ): Change<Applied> =>
  async (scope, caller) => {
    const { tx, orgId, recordedAt, now } = scope
    const { setId, kinds, admitted } = set
    await checkSets(tx, orgId, setId)
    const entries: EntryDraft[] = []
    const run = async (change: Change<unknown> | null | undefined) => {
      if (change) entries.push(...(await change(scope, caller)).entries)
    }
    for (const { change, kind, object_id, at, before, after } of comparison.changes) {
      if (change === 'delete') await run(kinds.get(kind)?.remove?.(object_id))
      else if (at !== null && after && !isAs(before ?? undefined, after))
        await run(admitted.get(at)?.set)
      await rest()
    }
    // A change can touch another object of the set: a grant sets the mode of its agent.
    for (const at of await otherThanDescribed(tx, orgId, set)) await run(admitted.get(at)?.set)
    const revision = ((await findSet(tx, orgId, setId))?.revision ?? 0) + 1
    await storeObjects(scope, set)
    const row: PolicySetRow = {
      org_id: orgId,
      id: setId,
      revision,
      digest: digestOf(set.documents),
      locked: (await findSet(tx, orgId, setId))?.locked ?? 0,
      applied_at: recordedAt,
      applied_by: actorOf(caller).id,
    }
    await putSet(tx, row)
    const changes = wireChanges(comparison, set, now)
    const policy_set = { id: setId, plan_digest: digest }
    const applied: EntryDraft = {
      kind: 'policy_set.applied',
      actor: actorOf(caller),
      data: {
        set: setId,
        revision,
        digest: row.digest,
        base_digest: comparison.baseDigest,
        plan_digest: digest,
        counts: countsOf(changes),
        tests: { passed: tests.passed, failed: tests.failed },
        ...(properties.length > 0 && { properties: resultsOf(properties) }),
        ...(input.change_reason !== undefined && { change_reason: input.change_reason }),
        ...personOf(caller),
      },
    }
    return {
      entries: [...entries.map((entry) => ofPlan(entry, policy_set)), applied],
      reply: (recorded) => ({
        revision,
        digest: row.digest,
        changes,
        ledger: (recorded.at(-1) ?? firstOf(recorded)).receipt,
      }),
    }
  }

/** The entry of a change that a plan makes. Kinds of documents write such entries only. */
const ofPlan = (entry: EntryDraft, policy_set: { id: string; plan_digest: string }): EntryDraft =>
  ({ ...entry, data: { ...entry.data, policy_set } }) as EntryDraft

/** The results of properties by their names, for an entry. */
const resultsOf = (properties: readonly PropertyResult[]): Record<string, string> =>
  Object.fromEntries(properties.map(({ name, result }) => [name, result]))

const countsOf = (changes: readonly ObjectChange[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(changes, ({ change }) => change)].map(([change, some]) => [
      change,
      some.length,
    ]),
  )

/** Returns the places of the documents whose objects are not as described. */
async function otherThanDescribed(
  tx: AnyDatabase,
  orgId: string,
  { objects, kinds }: AdmittedSet,
): Promise<number[]> {
  const places: number[] = []
  for (const [name, kind] of kinds) {
    const documents = objects.filter((one) => one.kind === name)
    if (documents.length === 0) continue
    const ids = documents.map(({ id }) => id)
    const live = new Map((await kind.list(tx, orgId, ids)).map(({ id, spec }) => [id, spec]))
    places.push(...documents.flatMap(({ id, spec, at }) => (isAs(live.get(id), spec) ? [] : [at])))
  }
  return places
}

/** Stores the objects of the set as they are after the change. */
async function storeObjects({ tx, orgId }: LedgerScope, set: AdmittedSet): Promise<void> {
  const { setId, objects, kinds } = set
  await deleteObjects(tx, orgId, setId)
  for (const [name, kind] of kinds) {
    const documents = objects.filter((one) => one.kind === name)
    if (documents.length === 0) continue
    const found = await kind.list(
      tx,
      orgId,
      documents.map(({ id }) => id),
    )
    const specs = new Map<string, object>(found.map(({ id, spec }) => [id, spec]))
    await putObjects(
      tx,
      documents.map(({ id, name: document, spec }) => ({
        org_id: orgId,
        kind: name,
        object_id: id,
        set_id: setId,
        name: document,
        // Settings that the document leaves out are in no set.
        spec: JSON.stringify(name === 'Settings' ? spec : (specs.get(id) ?? spec)),
        changed_by: null,
        changed_seq: null,
        changed_at: null,
        changed_spec: null,
      })),
    )
  }
}

/** Locks or unlocks a set. */
export const lockSet =
  (deps: Pick<Deps, 'documents'>, id: string, locked: boolean): Change<PolicySet> =>
  async ({ tx, orgId }, caller) => {
    const row = existing(await findSet(tx, orgId, id), 'policy_set_not_found')
    const next = { ...row, locked: locked ? 1 : 0 }
    await putSet(tx, next)
    const data = { set: id, locked, ...personOf(caller) }
    const set = await readSet(tx, kindsOf(deps), next)
    return receipted([{ kind: 'policy_set.locked', actor: actorOf(caller), data }], set)
  }

/** Removes a set, with its objects or without them. */
export const removeSet =
  (deps: Pick<Deps, 'documents'>, id: string, objects: 'keep' | 'delete'): Change<undefined> =>
  async (scope, caller) => {
    const { tx, orgId } = scope
    existing(await findSet(tx, orgId, id), 'policy_set_not_found')
    const entries: EntryDraft[] = []
    if (objects === 'delete') {
      const kinds = kindsOf(deps)
      const set = { setId: id, documents: [], objects: [], admitted: new Map(), kinds }
      const { changes, baseDigest } = compare([], await readState(tx, orgId, set), kinds)
      const policy_set = { id, plan_digest: planDigestOf(set, { baseDigest } as Comparison) }
      for (const { change, kind, object_id } of changes) {
        const remove = change === 'delete' ? kinds.get(kind)?.remove?.(object_id) : null
        if (remove)
          entries.push(
            ...(await remove(scope, caller)).entries.map((one) => ofPlan(one, policy_set)),
          )
      }
    }
    await deleteObjects(tx, orgId, id)
    await deleteSet(tx, orgId, id)
    const data = { set: id, objects, ...personOf(caller) }
    return recording(...entries, { kind: 'policy_set.removed', actor: actorOf(caller), data })
  }
