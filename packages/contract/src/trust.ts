import { z } from 'zod'
import type { Reason } from './reasons.ts'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import {
  Action,
  AgentId,
  component,
  FreeForm,
  mapOf,
  page,
  Paging,
  PathId,
  strictComponent,
  Timestamp,
} from './primitives.ts'
import { ConditionText, Description, Pattern, Patterns } from './rules.ts'
import { Validating, Validation } from './validation.ts'

/** Labels that an agent must have, each with this value. */
const LabelSelector = z.strictObject({
  labels: mapOf(z.string().min(1).max(63), z.string().max(255)).refine(
    (labels) => Object.keys(labels).length >= 1 && Object.keys(labels).length <= 32,
    'must be 1 to 32 labels; omit the selector to match all agents',
  ),
})

/** Registered agents: by a pattern of their id, or by their labels. */
export const AgentSelector = z.union([Pattern, LabelSelector]).meta({ id: 'AgentSelector' })
export type AgentSelector = z.infer<typeof AgentSelector>

const Selectors = z
  .array(AgentSelector)
  .min(1, 'must have at least one selector; * matches all registered agents')
  .max(50)
  .default(['*'])

const shape = {
  description: Description,
  effect: z.enum(['allow', 'deny']),
  source_agents: Selectors.describe('The acting agent'),
  target_agents: Selectors.describe('The target agent'),
  actions: Patterns,
  condition: ConditionText.nullable().default(null),
  enabled: z.boolean().default(true),
  expires_at: Timestamp.nullable().default(null),
}

export const TrustPolicyInput = strictComponent('TrustPolicyInput', shape)
export type TrustPolicyInput = z.infer<typeof TrustPolicyInput>

export const TrustPolicy = z
  .object({ id: z.string(), ...shape, created_at: Timestamp, created_by: z.string() })
  .meta({ id: 'TrustPolicy' })
export type TrustPolicy = z.infer<typeof TrustPolicy>

export const TrustQuestion = strictComponent('TrustQuestion', {
  source_agent_id: AgentId,
  target_agent_id: AgentId,
  action: Action,
  context: FreeForm.optional(),
})
export type TrustQuestion = z.infer<typeof TrustQuestion>

/** The same names as the reasons of `/v1/authorize`; `agent_denied` means not registered. */
export const TrustReason = z
  .enum([
    'policy_allow',
    'policy_deny',
    'default_deny',
    'policy_error',
    'agent_denied',
    'agent_suspended',
    'agent_removed',
  ] satisfies Reason[])
  .meta({ id: 'TrustReason' })
export type TrustReason = z.infer<typeof TrustReason>

export const TrustAnswer = component('TrustAnswer', {
  decision: z.enum(['allow', 'deny']),
  reason: TrustReason,
  policy_id: z.string().nullable(),
  ledger: Receipt.optional(),
})
export type TrustAnswer = z.infer<typeof TrustAnswer>

const changing = { plan: 'enterprise', viaWriter: true } as const

export const trust = {
  listTrustPolicies: endpoint('GET /v1/identity/trust', {
    plan: 'enterprise',
    roles: ['read', 'approver'],
    summary: 'List trust policies',
    text: 'Lists the trust policies, disabled ones too.',
    query: z.strictObject(Paging),
    ok: page(TrustPolicy),
  }),
  createTrustPolicy: endpoint('POST /v1/identity/trust', {
    ...changing,
    summary: 'Create a trust policy',
    text: 'Creates a trust policy. A deny beats every allow, and without a matching policy the answer is deny.',
    problems: ['change_requires_approval', 'too_many_trust_policies'],
    query: Validating,
    body: TrustPolicyInput,
    ok: TrustPolicy.extend({
      warnings: z.array(z.string()).describe('Probable mistakes'),
      ledger: Receipt.optional(),
    }).meta({ id: 'CreatedTrustPolicy' }),
    also: { validation: Validation },
    status: 201,
    alsoStatus: 200,
  }),
  deleteTrustPolicy: endpoint('DELETE /v1/identity/trust/{policyID}', {
    ...changing,
    summary: 'Delete a trust policy',
    text: 'Deletes a trust policy. No decision after the answer follows it.',
    problems: ['managed_by_policy_set', 'change_requires_approval', 'trust_policy_not_found'],
    params: z.strictObject({ policyID: PathId }),
  }),
  evaluateTrust: endpoint('POST /v1/identity/authorize', {
    plan: 'enterprise',
    roles: ['ingest'],
    scope: 'trust:check',
    viaWriter: true,
    summary: 'Decide whether one agent may act towards another',
    text: 'Decides whether one registered agent may act towards another, and records the decision. A credential asks for its own agent only, as source or as target.',
    problems: ['agent_mismatch'],
    body: TrustQuestion,
    ok: TrustAnswer,
  }),
}
