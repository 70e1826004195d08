import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, page, Paging, PathId, Timestamp } from './primitives.ts'
import {
  ConditionText,
  Description,
  MODE_FAULT,
  modeIsOfEnabled,
  Patterns,
  RuleMode,
  WINDOW_FAULT,
  windowFields,
  windowIsOpen,
} from './rules.ts'
import { hasVisibleCharacter } from './fit/values.ts'
import { Validating, Validation } from './validation.ts'

const rule = {
  description: Description,
  effect: z.enum(['allow', 'deny']),
  agents: Patterns,
  actions: Patterns,
  resources: Patterns,
  condition: ConditionText.nullable().default(null),
  enabled: z.boolean().default(true),
  mode: RuleMode,
  ...windowFields,
}

export const PolicyInput = z
  .strictObject(rule)
  .refine(windowIsOpen, WINDOW_FAULT)
  .refine(modeIsOfEnabled, MODE_FAULT)
  .meta({ id: 'PolicyInput' })
export type PolicyInput = z.infer<typeof PolicyInput>

/** The reason of a change, recorded in its entry. */
export const ChangeReason = z
  .string()
  .max(500)
  .refine(hasVisibleCharacter, 'must contain a visible character')
  .describe('The reason of the change, for the ledger')

export const PolicyChange = z
  .strictObject({ ...rule, change_reason: ChangeReason.optional() })
  .refine(windowIsOpen, WINDOW_FAULT)
  .refine(modeIsOfEnabled, MODE_FAULT)
  .meta({ id: 'PolicyChange' })
export type PolicyChange = z.infer<typeof PolicyChange>

export const Policy = component('Policy', {
  id: z.string(),
  ...rule,
  created_at: Timestamp,
  created_by: z.string(),
  updated_at: Timestamp,
  revision: z.int().describe('Number of changes; the same as the ETag'),
})
export type Policy = z.infer<typeof Policy>

const CreatedPolicy = Policy.extend({
  warnings: z.array(z.string()).describe('probable mistakes; the rule is in force'),
  ledger: Receipt.optional(),
}).meta({ id: 'CreatedPolicy' })

const Id = z.strictObject({ policyID: PathId })

export const policies = {
  listPolicies: endpoint('GET /v1/policies', {
    plan: 'enterprise',
    roles: ['read', 'approver'],
    summary: 'List policy rules',
    text: 'Lists the policy rules by id, disabled ones too; ids of the server sort by creation.',
    query: z.strictObject(Paging),
    ok: page(Policy),
  }),
  createPolicy: endpoint('POST /v1/policies', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Create a policy rule',
    text: 'Creates a policy rule. It counts for every decision after the answer. The condition is compiled first; one that does not compile is 400 with its position. `warnings` names what the author may not have meant.',
    problems: ['change_requires_approval', 'too_many_broad_rules', 'too_many_policies'],
    query: Validating,
    body: PolicyChange,
    ok: CreatedPolicy,
    also: { validation: Validation },
    status: 201,
    alsoStatus: 200,
    sends: ['Location', 'ETag'],
  }),
  getPolicy: endpoint('GET /v1/policies/{policyID}', {
    plan: 'enterprise',
    roles: ['read', 'approver'],
    summary: 'Get a policy rule',
    text: 'Returns one policy rule. `ETag` is its revision, for `PUT`.',
    problems: ['policy_not_found'],
    params: Id,
    ok: Policy,
    sends: ['ETag'],
  }),
  replacePolicy: endpoint('PUT /v1/policies/{policyID}', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Create a policy rule with an id of your choice, or replace the version that was read',
    text: 'Creates a policy rule with the id in the path (201), or replaces one in one change (200): no decision is taken without either version. To replace, `If-Match` must have the `ETag` of the version that was read, so that two editors do not overwrite each other, or `*` for any version. `If-None-Match: *` only creates. The entry `policy.created` or `policy.updated` holds the whole version.',
    problems: [
      'managed_by_policy_set',
      'change_requires_approval',
      'policy_not_found',
      'precondition_required',
      'too_many_broad_rules',
      'too_many_policies',
    ],
    params: Id,
    body: PolicyChange,
    replaces: true,
    ok: CreatedPolicy,
    status: 201,
    alsoStatus: 200,
    takes: ['If-Match', 'If-None-Match'],
    sends: ['Location', 'ETag'],
  }),
  deletePolicy: endpoint('DELETE /v1/policies/{policyID}', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Delete a policy rule',
    text: 'Deletes a policy rule. No decision after the answer follows it.',
    problems: ['managed_by_policy_set', 'change_requires_approval', 'policy_not_found'],
    params: Id,
    query: z.strictObject({ change_reason: ChangeReason.optional() }),
  }),
}
