import type { FactEntry } from '../entry.ts'
import { recordIn, textIn, timeIn } from '../recorded-json.ts'
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
