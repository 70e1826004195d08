import type { AuthorizeAnswer, Match } from '@remit/contract'
import { failedText } from '@remit/contract/fit'
import { isoTime } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import type { AnyDatabase } from '@remit/core/db'
import type { Ask, Effect, Stage, StageVerdict } from '@remit/core/decision'
import type { EntryDraft, EntryObserver } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { namesOf } from '../agents/agents.ts'
import { RuleIndex } from '../rules/rule-index.ts'
import { requesterOf, withRequester } from './requirements.ts'
import type { Requirement } from './requirements.ts'
import { NOT_READ } from './holders.ts'
import { bindingOf, boundMembers } from './binding.ts'
import type { Binding } from './binding.ts'
import { evaluateApproval, matching, observeApprovals, overlaidRules, rulesByMode } from './rule.ts'
import type { EarlierRequest, CompiledApprovalRule, RulesByMode } from './rule.ts'
import { statusAt, endOf } from './lifecycle.ts'
import {
  approvalEntry,
  boundOf,
  commentForAgent,
  holdersFor,
  partiesOf,
  requirementsOf,
  votesOf,
} from './request.ts'
import {
  listRules,
  changeRequest,
  countPending,
  findEffective,
  findRequest,
  moveRequest,
  newRequests,
} from './store.ts'
import type { ApprovalRequestRow, ApprovalRuleRow } from '../tables/approvals.ts'

interface Snapshot {
  readonly rules: RuleIndex<CompiledApprovalRule>
  readonly byMode: RulesByMode
  /** The names of the people who own an agent. */
  readonly ownersOf: (agentId: string) => readonly string[]
  readonly fourEyes: boolean
}

interface EffectiveRequest extends EarlierRequest {
  readonly row: ApprovalRequestRow
}

/** Grows while a batch is decided, so that later requests see the effect of earlier ones. */
interface State {
  /** Null if the rules could not be evaluated; absent if none matches. */
  readonly asked: ReadonlyMap<Ask, RequiredApproval | null>
  readonly known: Map<string, EffectiveRequest[]>
  readonly pending: Map<string, number>
  readonly fourEyes: boolean
}

/** The effect of a decision on an approval request. */
export type RequestEffect =
  | { readonly does: 'use'; readonly known: EffectiveRequest }
  | { readonly does: 'open'; readonly row: ApprovalRequestRow }
  /** Another key repeats a pending request. */
  | { readonly does: 'join'; readonly row: ApprovalRequestRow }

/** The slot `approval_rule`: a matching action requires an approval, which one allow uses up. */
export const approvalStage = ({
  offered,
}: Pick<Deps, 'offered'>): Stage<Snapshot, never, State, RequiredApproval | null> => ({
  unavailable: {
    reason: 'stage_unavailable',
    message: 'The approval rules cannot be read.',
  },

  reads: ['approval_rules', 'agents'],

  async load({ orgId, tx, organization }) {
    const rows = await listRules(tx, orgId)
    const agents = await offered('agentRegistry')?.load(orgId, tx)
    const ownersOf = (agentId: string) => namesOf(agents?.get(agentId))
    return { ...rulesAlone(rows), ownersOf, fourEyes: organization.settings.four_eyes }
  },

  overlay(snapshot, overlay) {
    const byMode = overlaidRules(snapshot.byMode, overlay)
    return {
      ...snapshot,
      ...(byMode !== snapshot.byMode && { byMode, rules: RuleIndex.of(byMode.enforce) }),
      fourEyes: overlay.settings?.four_eyes ?? snapshot.fourEyes,
    }
  },

  match: (ask, { rules }) => (rules.size > 0 ? askedOf(ask, rules) : undefined),

  async prepare(_asks, { ownersOf, fourEyes }, { orgId, tx, now }, _outside, matched) {
    const state = freshState(matched, fourEyes)
    const { asked, known } = state
    if (asked.size === 0) return state
    const hashes = new Set([...asked.values()].flatMap((one) => one?.binding.hash ?? []))
    const rows = await findEffective(tx, orgId, [...hashes], now)
    const holdersOf = await holdersFor({ offered }, tx, rows)
    for (const row of rows) {
      const one = knownOf(row, { owners: ownersOf(row.agent_id), fourEyes, holdersOf })
      known.set(row.binding_hash, [...(known.get(row.binding_hash) ?? []), one])
    }
    const agents = new Set([...asked.keys()].map((ask) => ask.request.agent_id))
    const pending = await countPending(tx, orgId, [...agents], now)
    return { ...state, pending }
  },

  leftOut: ({ rules }) => (rules.size > 0 ? 'approval_rules_not_in_plan' : null),

  observer: ({ byMode }) => observeApprovals(byMode.observe),

  decide: decideApproval,

  async hasEnded(answer, orgId, tx, now) {
    const id = awaitedApproval(answer)
    if (id === null) return false
    const row = await findRequest(tx, orgId, id)
    return !row || statusAt(row, now) !== 'pending'
  },

  apply({ effect }, { known, pending, fourEyes }) {
    const settled = effect as RequestEffect
    if (settled.does === 'open') {
      const { binding_hash: hash, agent_id: agent } = settled.row
      // It has no votes yet.
      known.set(hash, [
        ...(known.get(hash) ?? []),
        knownOf(settled.row, { owners: [], fourEyes, holdersOf: NOT_READ }),
      ])
      pending.set(agent, (pending.get(agent) ?? 0) + 1)
    } else if (settled.does === 'join') {
      const { row } = settled
      known.set(
        row.binding_hash,
        (known.get(row.binding_hash) ?? []).map((one) =>
          one.id === row.id ? { ...one, row } : one,
        ),
      )
    } else {
      const { binding_hash: hash, id } = settled.known.row
      known.set(
        hash,
        (known.get(hash) ?? []).filter((one) => one.id !== id),
      )
    }
  },

  async record(settled, _state, { tx, writes }) {
    const entries: EntryDraft[] = []
    const opened: ApprovalRequestRow[] = []
    for (const one of settled) {
      const effect = one.effect as RequestEffect
      const { caller, now } = one.ask
      if (effect.does === 'join') {
        await join(effect.row, opened, tx)
        continue
      }
      if (effect.does === 'open') opened.push(effect.row)
      const row = effect.does === 'open' ? effect.row : await use(one, effect.known, tx)
      const kind = effect.does === 'open' ? 'approval.requested' : 'approval.consumed'
      entries.push(approvalEntry(kind, row, now, actorOf(caller), {}))
    }
    if (opened.length > 0) writes.push(newRequests(opened))
    return entries
  },
})

/** The rules of rows for an organization without agents that have owners. */
export function rulesAlone(rows: readonly ApprovalRuleRow[]): Snapshot {
  const byMode = rulesByMode(rows)
  return { byMode, rules: RuleIndex.of(byMode.enforce), ownersOf: () => [], fourEyes: false }
}

/** The state of a batch if nothing was requested before. */
export const freshState = (matched: Matched, fourEyes = false) => ({
  asked: new Map([...matched].filter(([, one]) => one === null || one.rules.length > 0)),
  known: new Map<string, EffectiveRequest[]>(),
  pending: new Map<string, number>(),
  fourEyes,
})

type Matched = ReadonlyMap<Ask, RequiredApproval | null>

/** The decision that joined a pending request is its entry. */
async function join(
  row: ApprovalRequestRow,
  opened: ApprovalRequestRow[],
  tx: AnyDatabase,
): Promise<void> {
  const place = opened.findIndex(({ id }) => id === row.id)
  // Requests opened in the same batch are written later.
  if (place === -1)
    await changeRequest(tx, row.org_id, row.id, { further_askers: row.further_askers })
  else opened[place] = row
}

const use = (
  { ask }: Effect,
  { row }: EffectiveRequest,
  tx: AnyDatabase,
): Promise<ApprovalRequestRow> =>
  moveRequest(tx, row, 'consumed', {
    closed_at: isoTime(ask.now),
    consumed_by: ask.decisionId,
    counts_until: null,
  })

/** The matching rules and the binding of an approval; null if a rule cannot be evaluated. */
function askedOf(ask: Ask, index: Snapshot['rules']): RequiredApproval | null {
  try {
    const rules = matching(index, ask, ask.meter)
    const bound = boundMembers(rules.map((rule) => rule.bindingContext))
    return { rules, bound, binding: bindingOf(ask, bound) }
  } catch {
    return null
  }
}

const knownOf = (
  row: ApprovalRequestRow,
  known: Parameters<typeof partiesOf>[1],
): EffectiveRequest => ({
  row,
  id: row.id,
  status: row.status,
  counts_until: row.counts_until,
  bound: boundOf(row),
  requirements: requirementsOf(row),
  votes: votesOf(row),
  parties: partiesOf(row, known),
})

function decideApproval(ask: Ask, { asked, known, pending }: State): StageVerdict {
  const one = asked.get(ask)
  if (one === null) throw new Error('evaluating the approval rules failed')
  if (one === undefined) return { verdict: 'pass' }
  const answer = evaluateApproval({
    requirements: one.rules.map((rule) => rule.requirement),
    bound: one.bound,
    earlier: known.get(one.binding.hash) ?? [],
    pending: pending.get(ask.request.agent_id) ?? 0,
    asker: requesterOf(ask),
    reference: referenceOf(ask),
    now: ask.now,
  })
  const matched = one.rules.map(({ id }) => ({ kind: 'approval_rule', id }))
  if (answer.is === 'approved') {
    const effect: RequestEffect = { does: 'use', known: answer.by }
    const notes = notesOf(answer.by.row, 'consumed', matched)
    return { verdict: 'pass', reason: 'approved', effect, notes }
  }
  if (answer.is === 'rejected') {
    return {
      verdict: 'deny',
      reason: 'approval_rejected',
      message: rejectionOf(answer.by.row),
      notes: notesOf(answer.by.row, 'rejected', matched),
    }
  }
  if (answer.is === 'backlog') {
    return {
      verdict: 'deny',
      reason: 'approval_backlog',
      message: 'The agent has too many pending approval requests.',
      notes: { matched },
    }
  }
  if (answer.is === 'pending') {
    const row = withRequester(answer.by.row, requesterOf(ask))
    const effect: RequestEffect | null = row && { does: 'join', row }
    return {
      ...waiting(one, notesOf(answer.by.row, 'pending', matched)),
      ...(effect && { effect }),
    }
  }
  const row = newRow(ask, one)
  const effect: RequestEffect = { does: 'open', row }
  return { ...waiting(one, notesOf(row, 'pending', matched)), effect }
}

function rejectionOf(row: ApprovalRequestRow): string {
  const comment = commentForAgent(row)
  const why = comment === null ? '.' : `, because: ${comment}`
  return `The request was rejected${why} It can be repeated from ${row.counts_until}.`
}

const waiting = ({ rules }: RequiredApproval, notes: ReturnType<typeof notesOf>) => ({
  verdict: 'needs_approval' as const,
  reason: 'approval_required' as const,
  message: requirementText(rules.map(({ requirement }) => requirement)),
  notes,
})

/** A description says what matched; of a rule whose condition failed, it would say what is not so. */
function requirementText(requirements: readonly Requirement[]): string {
  const matched = requirements.filter((one) => one.condition_failed !== true)
  const description = matched.find((one) => one.description)?.description
  const ids = requirements.map((one) => one.rule_id).join(', ')
  const failed = failedText(requirements)
  return `${description ?? `Approval is required: ${ids}.`}${failed === null ? '' : ` ${failed}`}`
}

function notesOf(row: ApprovalRequestRow, status: string, matched: readonly Match[]) {
  const approval = { id: row.id, status, expires_at: row.counts_until }
  const answer: Partial<AuthorizeAnswer> = { request_id: row.id, approval }
  return { matched, answer, data: { approval: { id: row.id, status } } }
}

/** `context.approval.id` selects one of several approvals. It is not evidence of one. */
function referenceOf({ request }: Ask): string | null {
  const { approval } = request.context ?? {}
  const id = (approval as { id?: unknown } | null | undefined)?.id
  return typeof id === 'string' ? id : null
}

type Awaiting = Partial<Pick<AuthorizeAnswer, 'approval'>>

/** The approval that a stored answer awaits, of this API or of AuthZEN; null for none. */
function awaitedApproval(answer: string): string | null {
  const body = JSON.parse(answer) as Awaiting & { readonly context?: Awaiting }
  const { approval } = body.context ?? body
  return approval?.status === 'pending' ? approval.id : null
}

/** The requirements of a request. */
interface RequiredApproval {
  readonly rules: readonly CompiledApprovalRule[]
  /** Bound context members; null means all. */
  readonly bound: readonly string[] | null
  readonly binding: Binding
}

/** The shortest times of all rules apply, and the longest cooldown after a rejection. */
function newRow(ask: Ask, { rules, bound, binding }: RequiredApproval): ApprovalRequestRow {
  const { request, caller, claims, now } = ask
  const { resource, context = {} } = request
  const ttl = Math.min(...rules.map((rule) => rule.requestTtlSeconds))
  const expiresAt = endOf(now, ttl) ?? isoTime(now)
  return {
    org_id: ask.orgId,
    id: `apr_${ask.decisionId.slice('dec_'.length)}`,
    status: 'pending',
    agent_id: request.agent_id,
    action: request.action,
    resource: resource === undefined || resource === '' ? null : JSON.stringify(resource),
    context: JSON.stringify(context),
    acting_for: actingFor(claims.subject, request.agent_id),
    binding: binding.text,
    binding_hash: binding.hash,
    bound: bound && JSON.stringify(bound),
    requirements: JSON.stringify(rules.map((rule) => rule.requirement)),
    votes: '[]',
    approval_ttl_seconds: Math.min(...rules.map((rule) => rule.approvalTtlSeconds)),
    cooldown_seconds: Math.max(...rules.map((rule) => rule.cooldownSeconds)),
    requester_type: actorOf(caller).type,
    requester_id: actorOf(caller).id,
    requester_person: caller?.principal.person ?? null,
    further_askers: '[]',
    decision_id: ask.decisionId,
    consumed_by: null,
    requested_at: isoTime(now),
    expires_at: expiresAt,
    decided_at: null,
    usable_until: null,
    closed_at: null,
    counts_until: expiresAt,
  }
}

function actingFor(
  subject: Readonly<Record<string, unknown>> | undefined,
  agentId: string,
): string | null {
  const id = subject?.['id']
  return typeof id === 'string' && id !== agentId ? id : null
}

/** The signal for changes of an organization's approvals. */
export const APPROVALS_TOPIC = 'approvals'

/** Every change of an approval has an entry, so entries trigger the signal. */
export const approvalObserver: EntryObserver = {
  observe(entries, scope) {
    if (entries.some(({ row }) => row.kind.startsWith('approval.'))) scope.announce(APPROVALS_TOPIC)
    return Promise.resolve()
  },
}
