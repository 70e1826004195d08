import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { page, Paging, PathId, Timestamp } from './primitives.ts'
import {
  ConditionText,
  Description,
  Patterns,
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
  ...windowFields,
}

export const PolicyInput = z
  .strictObject(rule)
  .refine(windowIsOpen, WINDOW_FAULT)
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
  .meta({ id: 'PolicyChange' })
export type PolicyChange = z.infer<typeof PolicyChange>

export const Policy = z
  .object({
    id: z.string(),
    ...rule,
    created_at: Timestamp,
    created_by: z.string(),
    updated_at: Timestamp,
    revision: z.int().describe('Number of changes; the same as the ETag'),
  })
  .meta({ id: 'Policy' })
export type Policy = z.infer<typeof Policy>

const CreatedPolicy = Policy.extend({
  warnings: z.array(z.string()).describe('probable mistakes; the rule is in force'),
  ledger: Receipt.optional(),
}).meta({ id: 'CreatedPolicy' })

const Id = z.strictObject({ policyID: PathId })

export const policies = {
  listPolicies: endpoint({
    method: 'GET',
    path: '/v1/policies',
    plan: 'enterprise',
    roles: ['read', 'approver'],
    scope: null,
    summary: 'List policy rules',
    query: z.strictObject(Paging),
    ok: page(Policy),
    status: 200,
  }),
  createPolicy: endpoint({
    method: 'POST',
    path: '/v1/policies',
    plan: 'enterprise',
    roles: [],
    scope: null,
    viaWriter: true,
    summary: 'Create a policy rule',
    query: Validating,
    body: PolicyChange,
    ok: CreatedPolicy,
    also: { validation: Validation },
    status: 201,
    alsoStatus: 200,
    sends: ['Location', 'ETag'],
  }),
  getPolicy: endpoint({
    method: 'GET',
    path: '/v1/policies/{policyID}',
    plan: 'enterprise',
    roles: ['read', 'approver'],
    scope: null,
    summary: 'Get a policy rule',
    params: Id,
    ok: Policy,
    status: 200,
    sends: ['ETag'],
  }),
  replacePolicy: endpoint({
    method: 'PUT',
    path: '/v1/policies/{policyID}',
    plan: 'enterprise',
    roles: [],
    scope: null,
    viaWriter: true,
    summary: 'Create a policy rule with an id of your choice, or replace the version that was read',
    params: Id,
    body: PolicyChange,
    replaces: true,
    ok: CreatedPolicy,
    status: 201,
    alsoStatus: 200,
    takes: ['If-Match', 'If-None-Match'],
    sends: ['Location', 'ETag'],
  }),
  deletePolicy: endpoint({
    method: 'DELETE',
    path: '/v1/policies/{policyID}',
    plan: 'enterprise',
    roles: [],
    scope: null,
    viaWriter: true,
    summary: 'Delete a policy rule',
    params: Id,
    query: z.strictObject({ change_reason: ChangeReason.optional() }),
    ok: z.void(),
    status: 204,
  }),
}
