import { z } from 'zod'
import { Approval } from './approvals.ts'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import {
  AgentId,
  component,
  integer,
  Paging,
  PathId,
  strictComponent,
  Timestamp,
} from './primitives.ts'
import {
  ConditionText,
  Description,
  Pattern,
  Patterns,
  WINDOW_FAULT,
  windowFields,
  windowIsOpen,
} from './rules.ts'
import { SpendLimit } from './spend-limits.ts'
import { MAX_DELEGATION_DEPTH } from './fit/values.ts'

const Granter = z.strictObject({ type: z.enum(['user', 'key', 'agent']), id: AgentId })

const terms = {
  agent_id: Pattern.describe('The agent; a deny may have a pattern'),
  effect: z.enum(['allow', 'deny']).default('allow'),
  actions: Patterns,
  resources: Patterns,
  condition: ConditionText.nullable().default(null),
  parent_id: PathId.nullable()
    .default(null)
    .describe('The permission that this one is derived from'),
  can_delegate: z.boolean().default(false).describe('True if the agent may delegate it'),
  ...windowFields,
  description: Description,
}

const Depth = integer(0, MAX_DELEGATION_DEPTH)

const NOT_FOR_A_DENY = 'is only allowed for permissions with the effect allow'

export const PermissionInput = z
  .strictObject({
    ...terms,
    max_depth: Depth.optional().describe(
      'Links that may follow in the chain. Default: 0 for a root, else one less than the parent',
    ),
    granted_by: Granter.optional().describe(
      'Default: the person or key of the request for a root, else the agent of the parent',
    ),
  })
  .refine(windowIsOpen, WINDOW_FAULT)
  .refine(({ effect, agent_id }) => effect === 'deny' || !agent_id.includes('*'), {
    path: ['agent_id'],
    message: 'must name one agent; only a deny may have a pattern',
  })
  .refine(({ effect, parent_id }) => effect === 'allow' || parent_id === null, {
    path: ['parent_id'],
    message: NOT_FOR_A_DENY,
  })
  .refine(({ effect, can_delegate }) => effect === 'allow' || !can_delegate, {
    path: ['can_delegate'],
    message: NOT_FOR_A_DENY,
  })
  .refine(({ effect, max_depth = 0 }) => effect === 'allow' || max_depth === 0, {
    path: ['max_depth'],
    message: NOT_FOR_A_DENY,
  })
  .refine(({ granted_by, parent_id }) => granted_by?.type !== 'agent' || parent_id !== null, {
    path: ['parent_id'],
    message: 'is required if an agent grants: the permission to delegate',
  })
  .refine(
    ({ granted_by, parent_id }) =>
      parent_id === null || granted_by === undefined || granted_by.type === 'agent',
    {
      path: ['granted_by', 'type'],
      message: 'must be agent: the holder of parent_id is the grantor',
    },
  )
  .meta({ id: 'PermissionInput' })
export type PermissionInput = z.infer<typeof PermissionInput>

/** The reason why a permission has no effect now, and the invalid link of its chain. */
const Dead = z.object({
  dead: z.enum([
    'revoked',
    'expired',
    'not_yet_valid',
    'suspended',
    'removed',
    'not_registered',
    'parent_missing',
    'not_held',
    'not_delegable',
    'too_deep',
    'cycle',
  ]),
  link: z.string().describe('The permission of the chain that the reason is about'),
})

const facts = {
  ...terms,
  max_depth: Depth,
  granted_by: Granter.extend({ id: z.string() }),
  created_at: Timestamp,
  created_by: z.string(),
  updated_at: Timestamp,
  revoked_at: Timestamp.nullable(),
  revoked_by: z.string().nullable(),
}

export const Permission = component('Permission', {
  id: z.string(),
  ...facts,
  depth: z.int().describe('Links before it in its chain'),
  chain: z.array(z.string()).describe('Ids from the root to this permission'),
  effective: z.union([z.literal(true), Dead]),
  warnings: z.array(z.string()).optional().describe('Valid settings that are probably mistakes'),
  ledger: Receipt.optional(),
})
export type Permission = z.infer<typeof Permission>

export const AgentMode = z
  .enum(['open', 'granted'])
  .describe('`granted`: the agent needs a permission to act')
  .meta({ id: 'AgentMode' })
export type AgentMode = z.infer<typeof AgentMode>

const AgentPermissions = z.object({
  agent_id: z.string(),
  mode: AgentMode,
  denied: z.boolean().describe('The agent may not act at all, or a deny for it is in force'),
  live_permissions: z.int().describe('Grants of the agent with a valid chain'),
})

const EffectiveDeny = z.object({
  id: z.string(),
  agent_id: z.string(),
  actions: z.array(z.string()),
  resources: z.array(z.string()),
  condition: z.string().nullable(),
  not_before: Timestamp.nullable(),
  expires_at: Timestamp.nullable(),
  description: z.string().nullable(),
})

const EffectiveGrant = z.object({
  id: z.string(),
  actions: z.array(z.string()).describe('The intersection of all links of the chain'),
  resources: z.array(z.string()),
  conditions: z.array(z.string()).describe('All conditions must be true'),
  expires_at: Timestamp.nullable().describe('Time at which the first link of the chain ends'),
  partial: z
    .boolean()
    .describe('The intersection of the patterns is too large to list; see the links'),
  chain: z.array(
    z.object({
      id: z.string(),
      agent_id: z.string(),
      granted_by: Granter.extend({ id: z.string() }),
      actions: z.array(z.string()),
      resources: z.array(z.string()),
      condition: z.string().nullable(),
      not_before: Timestamp.nullable(),
      expires_at: Timestamp.nullable(),
    }),
  ),
  denies: z
    .array(EffectiveDeny)
    .describe('Denies of agents earlier in the chain, which are inherited'),
})

export const EffectivePermissions = component('EffectivePermissions', {
  agent_id: z.string(),
  at: Timestamp,
  state: z
    .enum(['active', 'suspended', 'removed', 'not_registered'])
    .describe('`not_registered` if only registered agents may act'),
  suspended: z.object({ reason: z.string() }).nullable(),
  mode: AgentMode,
  grants: z.array(EffectiveGrant),
  denies: z.array(EffectiveDeny).describe('Each overrides every grant'),
  spend_limit: SpendLimit.nullable(),
  changes_at: Timestamp.nullable().describe(
    'Time at which this response changes next without a request',
  ),
})
export type EffectivePermissions = z.infer<typeof EffectivePermissions>

const Id = z.strictObject({ id: PathId })
const reading = { plan: 'enterprise', roles: ['read', 'approver'] } as const
const changing = { plan: 'enterprise', viaWriter: true } as const

export const delegation = {
  getDelegation: endpoint('GET /v1/delegation', {
    ...reading,
    summary: 'List permissions, their agents, and pending approvals',
    text: 'Lists permissions, the mode of the agents that they are about, and the newest pending approvals. Revoked permissions are included, with the reason in `effective`.',
    query: z.strictObject({ ...Paging, agent_id: AgentId.optional() }),
    ok: z.object({
      permissions: z.array(Permission),
      agents: z.array(AgentPermissions),
      pending_approvals: z
        .array(Approval)
        .describe('The newest ones, on the first page; GET /v1/approvals has all'),
      next_cursor: z.string().nullable(),
    }),
  }),
  getEffectivePermissions: endpoint('GET /v1/delegation/effective', {
    ...reading,
    scope: 'authorize',
    summary: 'Get the effective permissions of an agent',
    text: 'Returns what an agent may do now: grants whose chains are valid, denies, the spend limit, and the time at which the answer next changes. A credential reads those of its own agent.',
    problems: ['agent_mismatch'],
    query: z.strictObject({
      agent_id: AgentId.optional().describe('Required with a key; a credential reads its own'),
    }),
    ok: EffectivePermissions,
  }),
  getPermission: endpoint('GET /v1/delegation/permissions/{id}', {
    ...reading,
    summary: 'Get a permission, in force or not',
    text: 'Returns one permission, valid or not, with its chain.',
    problems: ['permission_not_found'],
    params: Id,
    ok: Permission,
  }),
  grantPermission: endpoint('POST /v1/delegation/permissions/{id}', {
    ...changing,
    summary: 'Create or replace a permission (grant or deny)',
    text: 'Grants a permission or an explicit deny under an id of your choice, or replaces it: 201 or 200. A permission with `parent_id` is cut from another one and can only narrow it. The first grant switches the agent to the mode `granted`.',
    problems: [
      'managed_by_policy_set',
      'change_requires_approval',
      'permission_not_found',
      'permission_revoked',
      'permission_parent_fixed',
      'agent_in_chain',
      'too_many_pattern_denies',
      'permission_parent_unusable',
      'permission_too_wide',
    ],
    params: Id,
    body: PermissionInput,
    replaces: true,
    ok: Permission,
    status: 201,
    alsoStatus: 200,
    sends: ['Location'],
  }),
  revokePermission: endpoint('DELETE /v1/delegation/permissions/{id}', {
    ...changing,
    summary: 'Revoke a permission and all its descendants',
    text: 'Revokes a permission and every permission that was cut from it. The answer lists the ids.',
    problems: ['managed_by_policy_set', 'change_requires_approval', 'permission_not_found'],
    params: Id,
    ok: z.object({ revoked: z.array(z.string()), ledger: Receipt }),
  }),
  setAgentMode: endpoint('POST /v1/delegation/agents/{agent_id}/mode', {
    ...changing,
    summary: 'Set whether an agent needs permissions to act',
    text: 'Sets whether an agent may act without permissions (`open`) or on permissions only (`granted`).',
    problems: ['managed_by_policy_set', 'change_requires_approval'],
    params: z.strictObject({ agent_id: AgentId }),
    body: strictComponent('AgentModeInput', { mode: AgentMode }),
    ok: z.object({ agent_id: z.string(), mode: AgentMode, ledger: Receipt }),
  }),
}
