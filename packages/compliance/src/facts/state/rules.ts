import type { FactEntry } from '../entry.ts'
import { recordIn, textIn, timeIn, isTrueIn, recordsIn, microIn } from '../recorded-json.ts'
import type { RecordedJson } from '../recorded-json.ts'
import { recordedObject } from './reducer.ts'
import type { Reducer, Reducers, RecordedObject } from './reducer.ts'
import type { FactState } from './state.ts'

/** A policy, an approval rule or a trust policy; an approval rule has no effect and no window. */
export interface RuleState extends RecordedObject {
  readonly effect: string | null
  readonly enabled: boolean
  /** The window [notBefore, expiresAt), milliseconds; null is open. */
  readonly notBefore: number | null
  readonly expiresAt: number | null
}

/** Returns whether a rule is in force at a time. */
export const isInForce = ({ enabled, notBefore, expiresAt }: RuleState, time: number): boolean =>
  enabled && (notBefore === null || notBefore <= time) && (expiresAt === null || time < expiresAt)

const ruleOf = (
  id: string,
  object: RecordedJson,
  entry: FactEntry,
  before: RuleState | undefined,
): RuleState => ({
  ...recordedObject(id, object, entry, before),
  effect: textIn(object, 'effect'),
  enabled: object['enabled'] !== false,
  notBefore: timeIn(object, 'not_before'),
  expiresAt: timeIn(object, 'expires_at'),
})

type Rules = (state: FactState) => Map<string, RuleState>

/** Stores the rule in the named member of the data. */
const keep =
  (rules: Rules, member: string): Reducer =>
  (state, entry) => {
    const object = recordIn(entry.data, member)
    const id = object && textIn(object, 'id')
    if (!object || id === null) return
    rules(state).set(id, ruleOf(id, object, entry, rules(state).get(id)))
    state.rulesVersion += 1
  }

const drop =
  (rules: Rules, member: string): Reducer =>
  (state, entry) => {
    const object = recordIn(entry.data, member)
    rules(state).delete((object && textIn(object, 'id')) ?? '')
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

interface RuleRecords {
  readonly policies: ReadonlyMap<string, RuleState>
  readonly approvalRules: ReadonlyMap<string, RuleState>
  readonly rulesVersion: number
  lost(...kinds: readonly string[]): number
}

export interface InForce {
  readonly policies: number
  /** The number of deny policies. */
  readonly denies: number
  readonly approvalRules: number
}

/** Counts the rules in force, cached until a rule changes or a window opens or closes. */
export class RulesInForce {
  readonly #rules: RuleRecords
  #version = -1
  #from = 0
  #until = 0
  #counts: InForce = { policies: 0, denies: 0, approvalRules: 0 }

  constructor(rules: RuleRecords) {
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
  readonly action: string
  readonly resource: string | null
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
  /** The decision that opened it. */
  readonly decisionId: string | null
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

/** The status at a time, milliseconds: `expired` after its end, recorded or not. */
export function approvalAt(
  { status, expiresAt, usableUntil }: ApprovalState,
  time: number,
): string {
  if (status === 'pending') return expiresAt !== null && time < expiresAt ? status : 'expired'
  if (status === 'approved') return usableUntil !== null && time < usableUntil ? status : 'expired'
  return status
}

export function voteOf(object: RecordedJson): VoteFacts {
  const approver = recordIn(object, 'approver') ?? {}
  return {
    decision: textIn(object, 'decision') ?? '',
    type: textIn(approver, 'type') ?? '',
    id: textIn(approver, 'id') ?? '',
    email: textIn(approver, 'email'),
    named: isTrueIn(approver, 'named'),
    keyId: textIn(object, 'key_id'),
  }
}

/** The request in an `approval.*` entry; null if it contains none. */
export function approvalOf(entry: FactEntry): ApprovalState | null {
  const object = recordIn(entry.data, 'approval')
  const id = object && textIn(object, 'id')
  if (!object || id === null) return null
  const by = recordIn(object, 'requested_by') ?? {}
  return {
    id,
    agentId: textIn(object, 'agent_id') ?? '',
    action: textIn(object, 'action') ?? '',
    resource: entry.resource,
    status: textIn(object, 'status') ?? '',
    seq: entry.seq,
    requestedAt: timeIn(object, 'requested_at') ?? entry.time,
    expiresAt: timeIn(object, 'expires_at'),
    usableUntil: timeIn(object, 'usable_until'),
    decidedAt: timeIn(object, 'decided_at'),
    rules: recordsIn(object, 'requirements').flatMap((one) => textIn(one, 'rule_id') ?? []),
    requesters: [textIn(by, 'id'), textIn(by, 'person'), textIn(object, 'acting_for')],
    personApproved: recordsIn(object, 'votes')
      .map(voteOf)
      .some(({ decision, type, named }) => decision === 'approve' && type === 'person' && named),
    decisionId: textIn(object, 'decision_id'),
  }
}

const keepApproval: Reducer = (state, entry) => {
  const approval = approvalOf(entry)
  if (!approval) return
  const before = state.approvals.get(approval.id)
  state.approvals.set(approval.id, before ? { ...approval, seq: before.seq } : approval)
}

/** Requests closed before the period are irrelevant: no allow can rely on them. */
const close: Reducer = (state: FactState, entry) => {
  if (entry.time >= state.keepClosedSince) return keepApproval(state, entry)
  const approval = approvalOf(entry)
  if (approval) state.approvals.delete(approval.id)
}

const decide: Reducer = (state, entry) => {
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
  readonly dailyMicro: number | null
  readonly monthlyMicro: number | null
}

export const spendLimitReducers: Reducers = {
  'spend_limit.set': (state, entry) => {
    const object = recordIn(entry.data, 'spend_limit')
    const id = object && textIn(object, 'agent_id')
    if (!object || id === null) return
    state.spendLimits.set(id, {
      ...recordedObject(id, object, entry, state.spendLimits.get(id)),
      dailyMicro: microIn(object, 'daily_usd'),
      monthlyMicro: microIn(object, 'monthly_usd'),
    })
  },
  'spend_limit.removed': (state, { agent_id, data }) => {
    state.spendLimits.delete(agent_id ?? textIn(data, 'agent_id') ?? '')
  },
}
