import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { byWindow, WINDOWS } from './fit/values.ts'
import { Receipt } from './ledger.ts'
import { AgentId, component, integer, page, Paging, Timestamp, Usd } from './primitives.ts'

const caps = {
  ...byWindow('cap', () => Usd.nullable().default(null)),
  on_missing_amount: z.enum(['zero', 'deny']).default('zero'),
  hold_ttl_seconds: integer(1, 31_536_000).nullable().default(null),
  settlement_by_agent: z
    .enum(['at_least_held', 'any'])
    .default('at_least_held')
    .describe(
      'Minimum fraction of a hold at which a credential without the scope ledger:settle may settle it',
    ),
}

export const SpendLimitInput = z
  .strictObject(caps)
  .refine((limit) => WINDOWS.some(({ cap }) => limit[cap] !== null), {
    path: ['daily_usd'],
    message: 'or hourly_usd or monthly_usd is required: a limit has at least one cap',
  })
  .meta({ id: 'SpendLimitInput' })
export type SpendLimitInput = z.infer<typeof SpendLimitInput>

const Usage = z.object({
  from: Timestamp,
  usd: z.number().describe('settled and appended spend'),
  held_usd: z.number().describe('held by unsettled allows'),
  resets_at: Timestamp,
})

export const SpendLimit = component('SpendLimit', {
  agent_id: z.string(),
  ...caps,
  created_at: Timestamp,
  created_by: z.string(),
  updated_at: Timestamp,
  spent: z.object(byWindow('name', () => Usage)),
  ledger: Receipt.optional(),
})
export type SpendLimit = z.infer<typeof SpendLimit>

const Id = z.strictObject({ id: AgentId })

const SpendHistory = component('SpendHistory', {
  data: z.array(
    z.object({
      at: Timestamp.describe('End of the hour or day, or now for the current one'),
      spent_usd: z.number().describe('Spent in the window until then'),
      held_usd: z.number().describe('Held by open decisions then'),
    }),
  ),
  limit_usd: z.number().nullable().describe('The cap of the window; null for none'),
})
export type SpendHistory = z.infer<typeof SpendHistory>

const SpendHold = component('SpendHold', {
  decision_id: z.string(),
  agent_id: z.string(),
  amount_usd: z.number().describe('The amount that counts as spent until it is settled'),
  held_at: Timestamp.describe('Time of the decision'),
  expires_at: Timestamp.nullable().describe('End of the hold; null: it stays until settled'),
})
export type SpendHold = z.infer<typeof SpendHold>

export const spendLimits = {
  listSpendLimits: endpoint('GET /v1/spend-limits', {
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'List spend limits',
    text: 'Lists the spend limits with what is spent and held in the current hour, day and month.',
    query: z.strictObject(Paging),
    ok: page(SpendLimit),
  }),
  getSpendLimit: endpoint('GET /v1/spend-limits/{id}', {
    plan: 'team',
    roles: ['read', 'approver'],
    scope: 'spend:read',
    summary: 'Get the spend limit of an agent and its spend',
    text: 'Returns the spend limit of one agent with what is spent and held. A credential reads the limit of its own agent only.',
    problems: ['spend_limit_not_found', 'agent_mismatch'],
    params: Id,
    ok: SpendLimit,
  }),
  getSpendHistory: endpoint('GET /v1/spend-limits/{id}/history', {
    plan: 'team',
    roles: ['read', 'approver'],
    scope: 'spend:read',
    summary: 'Get the course of the spend in the current day or month',
    text: 'Returns the spend of the current UTC day by hour, or of the current month by day. Hours are sampled once a minute; decisions never read them. The last point is the current state.',
    problems: ['spend_limit_not_found', 'agent_mismatch'],
    params: Id,
    query: z.strictObject({
      window: z
        .enum(['day', 'month'])
        .default('day')
        .describe('`day`: by hour; `month`: by day, both in UTC'),
    }),
    ok: SpendHistory,
  }),
  listSpendHolds: endpoint('GET /v1/spend-holds', {
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'List the open holds of allowed decisions, oldest first',
    text: 'Lists the amounts of allowed decisions that no entry has settled and that have not expired, oldest first. `POST /v1/ledger` with `decision_id` and `settle: "release"` releases one.',
    query: z.strictObject({ ...Paging, agent_id: AgentId.optional() }),
    ok: page(SpendHold),
  }),
  setSpendLimit: endpoint('POST /v1/spend-limits/{id}', {
    plan: 'team',
    viaWriter: true,
    summary: 'Create or replace the spend limit of an agent',
    text: 'Sets or replaces the spend limit of an agent: 201 for a new limit, 200 for a replaced one. Hours, days and months are those of UTC. Spend from before the limit counts.',
    problems: ['managed_by_policy_set', 'change_requires_approval'],
    params: Id,
    body: SpendLimitInput,
    replaces: true,
    ok: SpendLimit,
    status: 201,
    alsoStatus: 200,
    sends: ['Location'],
  }),
  removeSpendLimit: endpoint('DELETE /v1/spend-limits/{id}', {
    plan: 'team',
    viaWriter: true,
    summary: 'Remove the spend limit of an agent',
    text: 'Removes the spend limit of an agent. The spend so far stays in the ledger and counts again under a later limit.',
    problems: ['managed_by_policy_set', 'change_requires_approval', 'spend_limit_not_found'],
    params: Id,
  }),
}
