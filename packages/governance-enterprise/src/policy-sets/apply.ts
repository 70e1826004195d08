import type {
  ApplyInput,
  Drift,
  ObjectChange,
  PolicySet,
  PropertyResult,
  WaitingChange,
} from '@remit/contract'
import { existing, fail, Failure } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { AnyDatabase } from '@remit/core/db'
import { firstOf, receipted, recording } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, LedgerScope, Outcome, WorkOrigin } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { Reply } from '@remit/core/http'
import { sql } from 'kysely'
import { driftObserver } from './drift.ts'
import { compare, digestOf, isAs } from './compare.ts'
import type { Comparison } from './compare.ts'
import { deleteObjects, deleteSet, findSet, putObjects, putSet } from './store.ts'
import { checkRules, checkSets, compareSet, planDigestOf, readState, wireChanges } from './plan.ts'
import type { AdmittedSet, Asker, CheckedRules, ComparedSet, Pace, SetDeps } from './plan.ts'
import { kindsOf, readSet } from './read.ts'
import { approvalOf, refusal, shownChanges, whyApproval } from './four-eyes.ts'
import type { ChangeApproval } from './four-eyes.ts'
import type { PolicySetRow } from '../tables/policy-sets.ts'

/** The configuration can change while tests run; they then run again. */
const MAX_ATTEMPTS = 3

interface Applied {
  readonly revision: number
  readonly digest: string
  readonly changes: ObjectChange[]
}

/** Applies a plan in one change, or nothing of it; a plan that needs an approval waits for it. */
export async function applySet(
  deps: SetDeps,
  asker: Asker,
  set: AdmittedSet,
  input: ApplyInput,
  origin: WorkOrigin,
  pace: Pace,
): Promise<Applied | Reply<WaitingChange>> {
  for (let attempt = 1; ; attempt++) {
    try {
      await checkSets(deps.db, asker.orgId, set.setId)
      const plan = await compareSet(deps, asker.orgId, set)
      refuseOther(plan, input)
      const checked = await checkRules(deps, asker, set, plan, pace)
      refuseFailing(checked)
      const apply = applyChange(set, { ...plan, ...checked }, input, pace)
      const change: Change<Applied | Reply<WaitingChange>> = async (scope, caller) => {
        if (scope.configVersion !== plan.version) throw fail('rules_changed')
        const approval = caller && (await approvalFor(deps, scope, caller, set, plan, input))
        if (!approval) return apply(scope, caller, null)
        const { entries } = approval
        if ('usedId' in approval) {
          const applied = await apply(scope, caller, approval.usedId)
          return { ...applied, entries: [...entries, ...applied.entries] }
        }
        // Nobody is asked to approve what would be refused.
        await undone(scope, async (trial) => {
          const { entries: made } = await apply(trial, caller, null)
          await driftObserver(deps)(made, trial, caller)
        })
        const { waiting } = approval
        const headers = { Location: `/v1/approvals/${waiting.id}` }
        return {
          entries,
          changesNothing: true,
          reply: ([recorded]) => {
            const ledger = recorded ? { ledger: recorded.receipt } : {}
            return new Reply<WaitingChange>(
              { approval: waiting, ...ledger },
              { status: 202, headers },
            )
          },
        }
      }
      return await deps.writer.change(asker.orgId, origin, inTime(change, pace))
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'rules_changed') throw error
      if (attempt >= MAX_ATTEMPTS)
        throw fail('plan_stale', 'The configuration changes faster than its tests run')
    }
  }
}

/** A change that is undone where its answer would come after the deadline of the request. */
const inTime =
  <Answer>(change: Change<Answer>, { until }: Pace): Change<Answer> =>
  async (scope, caller) => {
    const outcome = await change(scope, caller)
    if (performance.now() > until)
      throw fail('deadline_exceeded', 'The plan takes too long to apply; nothing was changed')
    return outcome
  }

/** Runs work in a transaction and takes it back. */
async function undone(
  scope: LedgerScope,
  run: (scope: LedgerScope) => Promise<void>,
): Promise<void> {
  const { tx } = scope
  await sql`savepoint before_trial`.execute(tx)
  await run({ ...scope, writes: [], announce: () => undefined })
  await sql`rollback to savepoint before_trial`.execute(tx)
}

/** Returns the approval of a plan, as far as the setting `rule_changes` requires one. */
async function approvalFor(
  deps: SetDeps,
  scope: LedgerScope,
  caller: Caller,
  set: AdmittedSet,
  { comparison, digest }: ComparedSet,
  { change_reason }: ApplyInput,
): Promise<ChangeApproval | null> {
  const changes = wireChanges(comparison, set, scope.now)
  if (whyApproval(scope.organization.settings.rule_changes, changes) === null) return null
  const context = {
    plan_digest: digest,
    base_digest: comparison.baseDigest,
    ...shownChanges(changes),
    ...(change_reason !== undefined && { change_reason }),
  }
  return approvalOf(deps, scope, caller, { setId: set.setId, context })
}

/** A search without a result is not enough where a proof is required. */
const holds = ({ result, require }: PropertyResult): boolean =>
  result === 'proved' || (result === 'searched' && require === 'searched')

/** Throws if the plan is not the one that was asked for, or would overwrite drift or another set. */
function refuseOther({ comparison, digest }: ComparedSet, input: ApplyInput): void {
  const { baseDigest, overwritten, foreign } = comparison
  if (digest !== input.plan_digest)
    throw fail('plan_stale', 'The objects or the documents are not those of the plan', {
      extensions: { base_digest: baseDigest },
    })
  if (overwritten.length > 0 && !input.overwrite_drift)
    throw drifted(overwritten, 'overwrite_drift replaces it')
  const [other] = foreign
  if (other)
    throw fail(
      'managed_by_policy_set',
      `documents.${other.at}: ${other.kind} ${other.name} belongs to the policy set ${other.set}`,
      { extensions: { policy_set: other.set } },
    )
}

/** Throws if a check does not pass. */
function refuseFailing({ tests, properties }: CheckedRules): void {
  if (tests.failed > 0)
    throw fail('tests_failed', `${tests.failed} tests fail`, { extensions: { tests } })
  const failing = properties.find((one) => !holds(one))
  if (!failing) return
  const { name, result, counterexample, because } = failing
  throw fail('property_violated', `The property ${name} is ${result}`, {
    extensions: { property: name, result, counterexample, because },
  })
}

const drifted = (drift: readonly Drift[], wayOut: string): Failure => {
  const named = drift
    .slice(0, 5)
    .map(
      ({ kind, name, change, by }) =>
        `${kind} ${name} was ${change}${by === null ? '' : ` by ${by}`}`,
    )
  const more = drift.length > 5 ? ` and ${drift.length - 5} more` : ''
  return fail('drifted', `${named.join(', ')}${more}; ${wayOut}`, { extensions: { drift } })
}

const applyChange =
  (
    set: AdmittedSet,
    { comparison, digest, tests, properties }: ComparedSet & CheckedRules,
    input: ApplyInput,
    { rest }: Pace,
  ) =>
  async (
    scope: LedgerScope,
    caller: Caller | null,
    approvalId: string | null,
  ): Promise<Outcome<Applied>> => {
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
        ...(approvalId !== null && { approval_id: approvalId }),
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
  (
    deps: Pick<Deps, 'documents'>,
    id: string,
    objects: 'keep' | 'delete',
    { rest }: Pick<Pace, 'rest'>,
  ): Change<undefined> =>
  async (scope, caller) => {
    const { tx, orgId } = scope
    existing(await findSet(tx, orgId, id), 'policy_set_not_found')
    const entries: EntryDraft[] = []
    if (objects === 'delete') {
      const kinds = kindsOf(deps)
      const set = { setId: id, documents: [], objects: [], admitted: new Map(), kinds }
      const comparison = compare([], await readState(tx, orgId, set), kinds)
      const { changes, baseDigest, overwritten } = comparison
      if (overwritten.length > 0)
        throw drifted(overwritten, 'apply an empty set with overwrite_drift, or keep the objects')
      const { rule_changes: mode } = scope.organization.settings
      if (caller && whyApproval(mode, wireChanges(comparison, set, scope.now)) !== null)
        throw refusal(mode, 'The objects of the set')
      const policy_set = { id, plan_digest: planDigestOf(set, { baseDigest } as Comparison) }
      for (const { change, kind, object_id } of changes) {
        const remove = change === 'delete' ? kinds.get(kind)?.remove?.(object_id) : null
        if (remove)
          entries.push(
            ...(await remove(scope, caller)).entries.map((one) => ofPlan(one, policy_set)),
          )
        await rest()
      }
    }
    await deleteObjects(tx, orgId, id)
    await deleteSet(tx, orgId, id)
    const data = { set: id, objects, ...personOf(caller) }
    return recording(...entries, { kind: 'policy_set.removed', actor: actorOf(caller), data })
  }
