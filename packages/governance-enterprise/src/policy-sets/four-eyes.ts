/** Changes of rules that need the approval of a second person: the setting `rule_changes`. */
import { ApprovalRuleInput } from '@remit/contract'
import type { Approval, ObjectChange, OrganizationSettings } from '@remit/contract'
import { fail } from '@remit/core/base'
import type { Ids } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'
import { on } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { DecisionMeter, RESERVED_ACTIONS, RESERVED_AGENT } from '@remit/core/decision'
import type { Ask, Effect } from '@remit/core/decision'
import type { ChangeObserver, EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { isDeepStrictEqual } from 'node:util'
import { wireApproval } from '../approvals/request.ts'
import { mayBeOne, readHolders } from '../approvals/holders.ts'
import { compiledRule } from '../approvals/rule.ts'
import { approvalStage } from '../approvals/stage.ts'
import type { RequestEffect } from '../approvals/stage.ts'
import { findRequest } from '../approvals/store.ts'
import { RuleIndex } from '../rules/rule-index.ts'
import { plannedBy } from './drift.ts'
import { isEmergencyStop, weakens } from './weakens.ts'

/** The agent and the action of requests to change rules. Nobody else can use them. */
const AGENT_ID = RESERVED_AGENT
const ACTION = `${RESERVED_ACTIONS}apply`

type Mode = OrganizationSettings['rule_changes']

const DAY_SECONDS = 24 * 60 * 60

/** Every request to change rules needs one vote of somebody else, whatever the rules of the organization say. */
const SECOND_PERSON = (() => {
  const rule = compiledRule({
    id: AGENT_ID,
    ...ApprovalRuleInput.parse({
      description: 'A change of rules needs a second person.',
      agents: [AGENT_ID],
      actions: [ACTION],
      request_ttl_seconds: 7 * DAY_SECONDS,
      approval_ttl_seconds: DAY_SECONDS,
    }),
  })
  return { ...rule, requirement: { ...rule.requirement, separate_keys: true } }
})()

/** Returns why a plan needs an approval; null if it does not. */
export function whyApproval(mode: Mode, changes: readonly ObjectChange[]): string | null {
  const weaker = changes.filter((one) => one.weakens).length
  const count = mode === 'approve_all' ? changes.length : weaker
  if (mode === 'direct' || count === 0) return null
  const all = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}`
  return `rule_changes is ${mode}; ${all}, of which ${weaker} may allow more than before`
}

/** A request to apply a plan. */
interface ChangeRequest {
  readonly setId: string
  readonly context: Readonly<Record<string, unknown>>
}

/** The approval of a plan: a vote has been found and is used up, or the request waits for one. */
export type ChangeApproval = { readonly entries: readonly EntryDraft[] } & (
  | { readonly usedId: string }
  | { readonly waiting: Approval }
)

/** Uses the approval of a plan, or opens or joins its request. Throws after a rejection. */
export async function approvalOf(
  deps: Pick<Deps, 'offered'> & { readonly ids: Ids },
  scope: LedgerScope,
  caller: Caller,
  { setId, context }: ChangeRequest,
): Promise<ChangeApproval> {
  const { orgId, now, tx } = scope
  const resource = `policy_set:${setId}`
  const ask: Ask = {
    orgId,
    plan: caller.plan,
    decisionId: deps.ids.next('dec_', now),
    caller,
    request: { agent_id: AGENT_ID, action: ACTION, resource, context },
    claims: {},
    resource,
    now,
    meter: new DecisionMeter(),
  }
  const stage = approvalStage(deps)
  const loaded = await stage.load(scope)
  const rules = RuleIndex.of([...loaded.byMode.enforce, SECOND_PERSON])
  const snapshot = { ...loaded, rules }
  const matched = stage.match?.(ask, snapshot) ?? null
  if (matched === null)
    throw fail('change_requires_approval', 'The approval rules cannot be evaluated')
  const prepared = { ...scope, counters: null }
  const state = await stage.prepare?.(
    [ask],
    snapshot,
    prepared,
    undefined,
    new Map([[ask, matched]]),
  )
  if (!state) throw new Error('the approval stage has no state')
  const verdict = stage.decide(ask, state)
  if (verdict.verdict === 'deny') throw fail('change_requires_approval', verdict.message)
  const effect = verdict.effect as RequestEffect | undefined
  const decision = verdict.verdict === 'pass' ? 'allow' : verdict.verdict
  const effects: Effect[] = effect
    ? [{ slot: 'approval_rule', ask, decision, effect, moves: undefined }]
    : []
  const entries = (await stage.record?.(effects, state, scope)) ?? []
  if (effect?.does === 'use') return { entries, usedId: effect.known.id }
  const id = verdict.notes?.answer?.request_id ?? ''
  const row = effect?.row ?? (await findRequest(tx, orgId, id))
  if (!row) throw new Error(`the approval request ${id} is missing`)
  return { entries, waiting: wireApproval(row, now) }
}

/** Bytes of JSON of the differences in a request; an entry has a maximum size. */
const MAX_SHOWN_BYTES = 24_000
const MAX_NAMED = 200

/**
 * The changes of a plan as the context of its request shows them: those that weaken first. Throws if it cannot name
 * all that weaken, since an approver must see them.
 */
export function shownChanges(changes: readonly ObjectChange[]): Record<string, unknown> {
  const weaker = changes.filter((one) => one.weakens).length
  if (weaker > MAX_NAMED)
    throw fail(
      'change_requires_approval',
      `${weaker} changes may allow more than before, and a request shows ${MAX_NAMED}: apply them in several plans`,
    )
  let bytes = 0
  const shown = changes
    .toSorted((a, b) => Number(b.weakens) - Number(a.weakens))
    .slice(0, MAX_NAMED)
    .map(({ kind, name, object_id, change, weakens: isWeaker, before, after }) => {
      // The author of the documents chooses names: `test` can be the limit of another agent.
      const id = object_id === name ? {} : { object_id }
      const brief = { kind, name, ...id, change, weakens: isWeaker }
      const parts = change === 'replace' ? differenceOf(before, after) : { before, after }
      const whole = { ...brief, ...parts }
      const size = Buffer.byteLength(JSON.stringify(whole))
      if (bytes + size > MAX_SHOWN_BYTES) return brief
      bytes += size
      return whole
    })
  const omitted = changes.length - shown.length
  return {
    weakens: weaker,
    changes: shown,
    ...(omitted > 0 && { changes_omitted: omitted }),
  }
}

type Json = Readonly<Record<string, unknown>> | null

/** The members of an object that differ. */
function differenceOf(before: Json, after: Json): { before: Json; after: Json } {
  if (!before || !after) return { before, after }
  const names = Object.keys({ ...before, ...after }).filter(
    (name) => after[name] !== undefined && !isDeepStrictEqual(before[name], after[name]),
  )
  const pick = (from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(names.map((name) => [name, from[name] ?? null]))
  return { before: pick(before), after: pick(after) }
}

/**
 * Refuses changes through other endpoints that need an approval. The operator of the server and emergency stops are
 * never refused.
 */
export const fourEyesObserver =
  (deps: Pick<Deps, 'documents' | 'offered'>): ChangeObserver =>
  async (entries, scope, caller) => {
    if (!caller) return []
    const { rule_changes: mode } = scope.organization.settings
    for (const entry of entries) {
      if (entry.kind === 'organization.updated')
        await admitMode(deps, scope, caller, mode, entry.data.organization.settings)
      if (mode === 'direct' || plannedBy(entry) !== null) continue
      for (const documents of deps.documents())
        for (const { id, before, after } of documents.changesOf(entry)) {
          if (isDeepStrictEqual(before, after)) continue
          const { kind } = documents
          const pair = { kind, before, after }
          const isFree = isEmergencyStop(pair) || (mode !== 'approve_all' && !isWeaker(pair))
          if (!isFree) throw refusal(mode, `${kind} ${id}`)
        }
    }
    return []
  }

const isWeaker = (pair: Omit<Parameters<typeof weakens>[0], 'change'>): boolean =>
  weakens({ change: pair.after === null ? 'delete' : 'replace', ...pair })

/** The refusal of a direct change. */
export const refusal = (mode: Mode, what: string) =>
  fail(
    'change_requires_approval',
    `${what}: the setting rule_changes is ${mode}; apply a policy set with the change, which asks for the approval`,
  )

const STRICTNESS: readonly Mode[] = ['direct', 'approve_weakening', 'approve_all']

/** Lets a request make the setting stricter only, and only where somebody can approve. */
async function admitMode(
  deps: Pick<Deps, 'offered'>,
  { tx, orgId }: LedgerScope,
  caller: Caller,
  before: Mode,
  settings: Pick<OrganizationSettings, 'rule_changes' | 'require_separate_keys'>,
): Promise<void> {
  const { rule_changes: mode } = settings
  if (STRICTNESS.indexOf(mode) < STRICTNESS.indexOf(before))
    throw fail(
      'change_requires_approval',
      `The setting rule_changes is ${before}; only the operator of the server can loosen it, with the command: remit org set ${orgId} rule_changes=${mode}`,
    )
  if (before !== 'direct' || mode === 'direct') return
  if (caller.plan !== 'enterprise')
    throw fail('plan_required', 'The setting rule_changes needs policy sets of the plan enterprise')
  if (!(await hasSecondPerson(tx, orgId, settings.require_separate_keys, deps)))
    throw fail(
      'approver_missing',
      'An admin and another person or key that can decide are required; keys of one person, or with a common creator, count as one',
    )
}

/** Returns whether some admin's change can be approved by somebody else. */
async function hasSecondPerson(
  tx: AnyDatabase,
  orgId: string,
  separateKeys: boolean,
  deps: Pick<Deps, 'offered'>,
): Promise<boolean> {
  const keys = await on<CoreTables>(tx)
    .selectFrom('ingest_key')
    .select(['id', 'role'])
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .execute()
  const known = [...keys, ...((await deps.offered('people')?.deciders(tx, orgId)) ?? [])]
  const voters = known.filter(
    ({ role }) => role === 'approver' || (role === 'admin' && !separateKeys),
  )
  const holdersOf = await readHolders(deps, tx, orgId)
  // One of all with the same holders: an organization can have thousands of keys.
  const different = (some: readonly { readonly id: string }[]) => {
    const keyed = some.map(
      ({ id }) => [[...(holdersOf(id) ?? [])].toSorted().join('\n'), id] as const,
    )
    return [...new Map(keyed).values()]
  }
  const admins = different(known.filter(({ role }) => role === 'admin'))
  const ids = different(voters)
  return admins.some((admin) => ids.some((id) => !mayBeOne(admin, id, holdersOf)))
}
