import type { EntryReading } from '@remit/contract/entries'
import { matchesAll } from '@remit/contract/patterns'
import { byWindow } from '@remit/contract/values'
import type { ByWindow } from '@remit/contract/values'
import { microOf, timeOf } from '../entry.ts'
import type { FactEntry } from '../entry.ts'
import { recordedObject } from './reducer.ts'
import type { Reducers, RecordedObject } from './reducer.ts'
import type { FactState } from './state.ts'

/** A policy, an approval rule or a trust policy; an approval rule has no effect and no window. */
export interface RuleState extends RecordedObject {
  readonly effect: string | null
  /** And enforced: a rule that is observed decides nothing. */
  readonly enabled: boolean
  /** The window [notBefore, expiresAt), milliseconds; null is open. */
  readonly notBefore: number | null
  readonly expiresAt: number | null
  /** A trust policy of every agent towards every agent. */
  readonly isWild: boolean
}

/** Returns whether a rule is in force at a time. */
export const isInForce = ({ enabled, notBefore, expiresAt }: RuleState, time: number): boolean =>
  enabled && (notBefore === null || notBefore <= time) && (expiresAt === null || time < expiresAt)

type Policy = NonNullable<EntryReading<'policy.created'>['policy']>
type TrustPolicy = NonNullable<EntryReading<'trust_policy.created'>['policy']>
type Rule = Pick<Policy, 'id' | 'enabled'> &
  Partial<Pick<Policy, 'effect' | 'mode' | 'not_before' | 'expires_at'>> &
  Partial<Pick<TrustPolicy, 'source_agents' | 'target_agents'>>

/** Returns whether a list of selectors matches every agent. */
const isEveryone = (selectors: TrustPolicy['source_agents'] = null): boolean =>
  selectors?.some((one) => typeof one === 'string' && matchesAll(one)) ?? false

type Rules = (state: FactState) => Map<string, RuleState>
type Holding<Member extends string> = { readonly [Name in Member]: Rule | null }

/** Stores the rule in the named member of the data. */
const keep =
  <Member extends string>(rules: Rules, member: Member) =>
  (state: FactState, entry: FactEntry, data: Holding<Member>) => {
    const rule = data[member]
    const id = rule?.id ?? null
    if (!rule || id === null) return
    rules(state).set(id, {
      ...recordedObject(id, rule, entry, rules(state).get(id)),
      effect: rule.effect ?? null,
      enabled: rule.enabled !== false && rule.mode !== 'observe',
      notBefore: timeOf(rule.not_before ?? null),
      expiresAt: timeOf(rule.expires_at ?? null),
      isWild: isEveryone(rule.source_agents) && isEveryone(rule.target_agents),
    })
    state.rulesVersion += 1
  }

const drop =
  <Member extends string>(rules: Rules, member: Member) =>
  (state: FactState, _: FactEntry, data: Holding<Member>) => {
    rules(state).delete(data[member]?.id ?? '')
    state.rulesVersion += 1
  }

export const ruleReducers: Reducers = {
  'policy.created': keep((state) => state.policies, 'policy'),
  'policy.updated': keep((state) => state.policies, 'policy'),
  'policy.deleted': drop((state) => state.policies, 'policy'),
  'approval_rule.set': keep((state) => state.approvalRules, 'approval_rule'),
  'approval_rule.removed': drop((state) => state.approvalRules, 'approval_rule'),
  'trust_policy.created': keep((state) => state.trustPolicies, 'policy'),
  'trust_policy.deleted': drop((state) => state.trustPolicies, 'policy'),
}

export interface InForce {
  readonly policies: number
  /** The number of deny policies. */
  readonly denies: number
  readonly approvalRules: number
}

/** Counts the rules in force, cached until a rule changes or a window opens or closes. */
export class RulesInForce {
  readonly #rules: FactState
  #version = -1
  #from = 0
  #until = 0
  #counts: InForce = { policies: 0, denies: 0, approvalRules: 0 }

  constructor(rules: FactState) {
    this.#rules = rules
  }

  at(time: number): InForce {
    const { rulesVersion } = this.#rules
    if (rulesVersion !== this.#version || time >= this.#until || time < this.#from) {
      this.#version = rulesVersion
      this.#count(time)
    }
    return this.#counts
  }

  #count(time: number): void {
    const policies = [...this.#rules.policies.values()]
    const approvals = [...this.#rules.approvalRules.values()]
    this.#from = time
    this.#until = Number.POSITIVE_INFINITY
    for (const { notBefore, expiresAt } of policies)
      for (const edge of [notBefore, expiresAt])
        if (edge !== null && time < edge && edge < this.#until) this.#until = edge
    const live = policies.filter((rule) => isInForce(rule, time))
    // Each erased deletion removed one of these rules.
    const gone = this.#rules.lost('policy.deleted')
    const count = (rules: readonly RuleState[], less: number) => Math.max(0, rules.length - less)
    this.#counts = {
      policies: count(live, gone),
      denies: count(
        live.filter(({ effect }) => effect === 'deny'),
        gone,
      ),
      approvalRules: count(
        approvals.filter((rule) => isInForce(rule, time)),
        this.#rules.lost('approval_rule.removed'),
      ),
    }
  }
}

/** An approval request, reduced to the fields that metrics read. */
export interface ApprovalState {
  readonly id: string
  readonly agentId: string
  /** As recorded; `approvalAt` also considers expiry. */
  readonly status: string
  readonly seq: number
  readonly requestedAt: number
  /** The end of the wait for approval, and the end of the approval's use; milliseconds. */
  readonly expiresAt: number | null
  readonly usableUntil: number | null
  readonly decidedAt: number | null
  /** The rules that require the approval. */
  readonly rules: readonly string[]
  /** The key or person who asked, the address, and the person for whom the agent acts. */
  readonly requesters: readonly (string | null)[]
  /** At least one approver is a person named by the key or session. */
  readonly personApproved: boolean
}

/** A vote as it was recorded. */
export interface VoteFacts {
  readonly decision: string
  /** `person` or `key`. */
  readonly type: string
  readonly id: string
  /** The address of a known person. */
  readonly email: string | null
  /** The session or the key itself names the person. */
  readonly named: boolean
  /** The key, or the person of the session. */
  readonly keyId: string | null
}

type VoteReading = NonNullable<EntryReading<'approval.voted'>['vote']>

/** The status at a time, milliseconds: `expired` after its end, recorded or not. */
export function approvalAt(
  { status, expiresAt, usableUntil }: ApprovalState,
  time: number,
): string {
  if (status === 'pending') return expiresAt !== null && time < expiresAt ? status : 'expired'
  if (status === 'approved') return usableUntil !== null && time < usableUntil ? status : 'expired'
  return status
}

export const voteOf = ({ approver, decision, key_id: keyId }: VoteReading): VoteFacts => ({
  decision: decision ?? '',
  type: approver?.type ?? '',
  id: approver?.id ?? '',
  email: approver?.email ?? null,
  named: approver?.named === true,
  keyId,
})

/** The request in an `approval.*` entry; null if it contains none. */
export function approvalOf(entry: FactEntry): ApprovalState | null {
  const { approval } = entry.read('approval.requested')
  const id = approval?.id ?? null
  if (!approval || id === null) return null
  const by = approval.requested_by
  return {
    id,
    agentId: approval.agent_id ?? '',
    status: approval.status ?? '',
    seq: entry.seq,
    requestedAt: timeOf(approval.requested_at) ?? entry.time,
    expiresAt: timeOf(approval.expires_at),
    usableUntil: timeOf(approval.usable_until),
    decidedAt: timeOf(approval.decided_at),
    rules: approval.requirements?.flatMap(({ rule_id: rule }) => rule ?? []) ?? [],
    requesters: [by?.id ?? null, by?.person ?? null, approval.acting_for],
    personApproved: (approval.votes ?? [])
      .map(voteOf)
      .some(({ decision, type, named }) => decision === 'approve' && type === 'person' && named),
  }
}

const keepApproval = (state: FactState, entry: FactEntry): void => {
  const approval = approvalOf(entry)
  if (!approval) return
  const before = state.approvals.get(approval.id)
  state.approvals.set(approval.id, before ? { ...approval, seq: before.seq } : approval)
}

/** Requests closed before the period are irrelevant: no allow can rely on them. */
const close = (state: FactState, entry: FactEntry): void => {
  if (entry.time >= state.keepClosedSince) return keepApproval(state, entry)
  const approval = approvalOf(entry)
  if (approval) state.approvals.delete(approval.id)
}

const decide = (state: FactState, entry: FactEntry): void => {
  const isRejected = approvalOf(entry)?.status === 'rejected'
  return isRejected ? close(state, entry) : keepApproval(state, entry)
}

export const approvalReducers: Reducers = {
  'approval.requested': keepApproval,
  'approval.voted': keepApproval,
  'approval.decided': decide,
  'approval.consumed': close,
  'approval.expired': close,
  'approval.cancelled': close,
  'approval.revoked': close,
}

/** The caps of an agent, in micro-USD; null means none. */
export interface SpendLimitState extends RecordedObject {
  readonly caps: ByWindow<number | null>
}

export const spendLimitReducers: Reducers = {
  'spend_limit.set': (state, entry, { spend_limit: limit }) => {
    const id = limit?.agent_id ?? null
    if (!limit || id === null) return
    state.spendLimits.set(id, {
      ...recordedObject(id, limit, entry, state.spendLimits.get(id)),
      caps: byWindow('name', ({ cap }) => microOf(limit[cap])),
    })
  },
  'spend_limit.removed': (state, entry, { agent_id }) => {
    state.spendLimits.delete(entry.agent_id ?? agent_id ?? '')
  },
}
