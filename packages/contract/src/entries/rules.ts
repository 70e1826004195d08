import { z } from 'zod'
import { ApprovalRule } from '../approvals.ts'
import { RecordedBudget } from '../budgets.ts'
import { AgentMode, Permission } from '../delegation.ts'
import { ChangeReason, Policy } from '../policies.ts'
import { SpendLimit } from '../spend-limits.ts'
import { TrustPolicy } from '../trust.ts'
import { by as person } from './row.ts'
import type { EntryRows } from './row.ts'

/** The plan of a policy set that made a change, and the person who applied it. */
const by = {
  policy_set: z
    .strictObject({ id: z.string(), plan_digest: z.string() })
    .optional()
    .describe('the policy set and the plan that made the change'),
  ...person,
}

const state = { agent: 'never', event: null, carried: 'state' } as const

const creation = { area: 'configuration', does: 'creation' } as const
const change = { area: 'configuration', does: 'change' } as const
const deletion = { area: 'configuration', does: 'deletion' } as const

const policy = Policy.strict()
const reason = { change_reason: ChangeReason.optional().meta({ description: '' }) }
const policies = {
  ...state,
  data: z.strictObject({ policy, ...reason, ...by }),
  touches: ['policies'],
} as const

const approvalRules = {
  ...state,
  data: z.strictObject({
    approval_rule: ApprovalRule.omit({ warnings: true, ledger: true }).strict(),
    ...by,
  }),
  touches: ['approval_rules'],
} as const

const spend_limit = SpendLimit.omit({ spent: true, ledger: true }).strict()

const budgets = {
  ...state,
  data: z.strictObject({ budget: RecordedBudget, ...reason, ...by }),
  touches: ['budgets'],
} as const

const permission = Permission.omit({ effective: true, warnings: true, ledger: true }).strict()

const trustPolicies = {
  ...state,
  data: z.strictObject({ policy: TrustPolicy.strict(), ...by }),
  touches: 'all',
} as const

export const rules = {
  'policy.created': { ...policies, says: 'a policy rule was created', change: creation },
  'policy.updated': {
    ...policies,
    says: 'a policy rule was replaced',
    data: policies.data.extend({ policy: policy.describe('the whole new version') }),
    change,
  },
  'policy.deleted': { ...policies, says: 'a policy rule was deleted', change: deletion },
  'approval_rule.set': {
    ...approvalRules,
    says: 'an approval rule was created or replaced',
    change,
  },
  'approval_rule.removed': {
    ...approvalRules,
    says: 'an approval rule was removed',
    change: deletion,
  },
  'spend_limit.set': {
    ...state,
    says: 'a spend limit was created or replaced',
    data: z.strictObject({ spend_limit, ...by }),
    agent: 'always',
    change,
    touches: ['spend_limits'],
  },
  'spend_limit.removed': {
    ...state,
    says: 'a spend limit was removed',
    data: z.strictObject({ agent_id: z.string(), spend_limit, ...by }),
    agent: 'always',
    change: deletion,
    touches: ['spend_limits'],
  },
  'budget.set': { ...budgets, says: 'a budget was created or replaced', change },
  'budget.removed': {
    ...budgets,
    says: 'a budget was removed, with its counters',
    change: deletion,
  },
  'permission.granted': {
    ...state,
    says: 'a permission or denial was granted or replaced',
    data: z.strictObject({ permission, ...by }),
    agent: 'sometimes',
    change: { area: 'iam', does: 'creation' },
    touches: ['permissions'],
  },
  'permission.revoked': {
    ...state,
    says: 'a permission was revoked, with its delegations',
    data: z.strictObject({
      permission,
      revoked: z.array(z.string()).describe('ids; more than 500 are split over several entries'),
      ...by,
    }),
    agent: 'sometimes',
    change: { area: 'iam', does: 'deletion' },
    touches: ['permissions'],
  },
  'agent_mode.set': {
    ...state,
    says: 'the mode of an agent was set: open or granted',
    data: z.strictObject({
      agent_id: z.string(),
      mode: AgentMode.meta({ description: '' }),
      ...by,
    }),
    agent: 'always',
    change: { area: 'iam', does: 'change' },
    touches: ['modes'],
  },
  'trust_policy.created': {
    ...trustPolicies,
    says: 'a trust policy was created',
    change: creation,
  },
  'trust_policy.deleted': {
    ...trustPolicies,
    says: 'a trust policy was deleted',
    change: deletion,
  },
  'policy_set.applied': {
    ...state,
    says: 'a plan of a policy set was applied; the entries before it are its changes',
    data: z.strictObject({
      set: z.string(),
      revision: z.int(),
      digest: z.string().describe('of the documents'),
      base_digest: z.string().describe('of the objects before'),
      plan_digest: z.string(),
      counts: z.record(z.string(), z.int()).describe('changes by kind of change'),
      tests: z.strictObject({ passed: z.int(), failed: z.int() }),
      properties: z.record(z.string(), z.string()).optional().describe('results by name'),
      approval_id: z.string().optional().describe('the approval that the plan needed'),
      ...reason,
      ...person,
    }),
    change,
    touches: [],
  },
  'policy_set.locked': {
    ...state,
    says: 'a policy set was locked or unlocked',
    data: z.strictObject({ set: z.string(), locked: z.boolean(), ...person }),
    change,
    touches: [],
  },
  'policy_set.removed': {
    ...state,
    says: 'a policy set was removed',
    data: z.strictObject({ set: z.string(), objects: z.enum(['keep', 'delete']), ...person }),
    change: deletion,
    touches: [],
  },
  'policy_set.drifted': {
    ...state,
    says: 'an object of a policy set was changed outside of it; the entry before it is the change',
    data: z.strictObject({
      set: z.string(),
      kind: z.string().describe('kind of the document'),
      name: z.string(),
      object_id: z.string(),
      ...person,
    }),
    event: { is: 'policy_set.drifted', sends: 'data' },
    carried: 'no',
    change: null,
    touches: [],
  },
} as const satisfies EntryRows
