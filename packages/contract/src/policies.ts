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

export const Policy = z
  .object({
    id: z.string(),
    ...rule,
    created_at: Timestamp,
    created_by: z.string(),
    updated_at: Timestamp,
  })
  .meta({ id: 'Policy' })
export type Policy = z.infer<typeof Policy>

const CreatedPolicy = Policy.extend({
  warnings: z.array(z.string()).describe('probable mistakes; the rule is in force'),
  ledger: Receipt.optional(),
}).meta({ id: 'CreatedPolicy' })

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
    body: PolicyInput,
    ok: CreatedPolicy,
    status: 201,
    sends: ['Location'],
  }),
  deletePolicy: endpoint({
    method: 'DELETE',
    path: '/v1/policies/{policyID}',
    plan: 'enterprise',
    roles: [],
    scope: null,
    viaWriter: true,
    summary: 'Delete a policy rule',
    params: z.strictObject({ policyID: PathId }),
    ok: z.void(),
    status: 204,
  }),
}
