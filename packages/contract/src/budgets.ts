import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { isUnitAmount, isWholeUnit } from './fit/values.ts'
import { Receipt } from './ledger.ts'
import { ChangeReason } from './policies.ts'
import {
  AgentId,
  component,
  integer,
  mapOf,
  page,
  Paging,
  PathId,
  Timestamp,
  Unit,
} from './primitives.ts'
import { Description, Patterns, RuleMode } from './rules.ts'
import { Validating, Validation } from './validation.ts'

/** The windows in which budgets count. */
export const BUDGET_WINDOWS = [
  'hour',
  'day',
  'week',
  'month',
  'total',
  'rolling_24h',
  'rolling_30d',
] as const
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number]

const isZone = (name: string): boolean => {
  // Offsets such as `+01:00` are no zones with rules.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

const PER = /^(?:agent|user|label:[^\p{C}*]{1,64})$/u

const node = {
  description: Description,
  enabled: z
    .boolean()
    .default(true)
    .describe('False: the budget neither counts nor denies; open holds still settle'),
  mode: RuleMode.describe('`observe`: the budget counts and never denies'),
  parent_id: PathId.nullable()
    .default(null)
    .describe('The budget that this one is a part of; null for a root'),
  reserved: z
    .boolean()
    .default(false)
    .describe('True: the parent keeps the unused limit free for requests of this budget'),
  match: z
    .strictObject({
      agents: Patterns,
      actions: Patterns,
      resources: Patterns,
      users: Patterns.describe('Ids of the users that the agent acts for; `*` also matches none'),
      labels: mapOf(z.string().min(1).max(64), Patterns)
        .refine((labels) => Object.keys(labels).length <= 8, 'must have at most 8 labels')
        .default({})
        .describe('Labels of the registered agent; every key must match'),
    })
    .default({ agents: ['*'], actions: ['*'], resources: ['*'], users: ['*'], labels: {} })
    .describe('The requests that count; `{}` is every request'),
  per: z
    .string()
    .regex(PER, 'must be agent, user, label:<key> or null')
    .nullable()
    .default(null)
    .describe(
      '`agent`, `user` or `label:<key>`: each value has the limit for itself; requests without a value share one',
    ),
  unit: Unit,
  window: z
    .enum(BUDGET_WINDOWS)
    .describe(
      'The time in which the limit holds. `hour` and rolling windows are UTC; `week` begins on Monday',
    ),
  time_zone: z
    .string()
    .max(64)
    .refine(isZone, 'must be a time zone of the IANA database, such as Europe/Berlin')
    .default('UTC')
    .describe('Time zone of days, weeks and months'),
  limit: z.number().describe('Maximum of what is used and held in a window'),
  on_missing_amount: z
    .enum(['zero', 'deny'])
    .default('zero')
    .describe('What a request without an amount in the unit is: an amount of zero, or denied'),
  hold_ttl_seconds: integer(1, 31_536_000)
    .nullable()
    .default(null)
    .describe('Seconds until an unsettled hold of this budget ends; null: never'),
  settlement_by_agent: z
    .enum(['at_least_held', 'any'])
    .default('at_least_held')
    .describe('Minimum at which a credential without the scope ledger:settle settles a hold'),
  warn_at: z
    .array(integer(1, 100))
    .max(10)
    .default([50, 80, 100])
    .describe('Percentages of the limit whose crossing is recorded as `budget.threshold`'),
}

interface Limited {
  readonly unit: string
  readonly limit: number
  readonly per: string | null
  readonly window: BudgetWindow
}

const checkNode: z.core.CheckFn<Limited> = ({ value, issues }) => {
  const { unit, limit, per, window } = value
  if (!isUnitAmount(unit, limit))
    issues.push({
      code: 'custom',
      path: ['limit'],
      input: limit,
      message: isWholeUnit(unit)
        ? 'must be a whole number from 0 to 9000000000000000'
        : 'must be a number from 0 to 1000000000 with at most 6 decimals',
    })
  // The users of a window that never ends are never forgotten, and anybody can invent one.
  if (per === 'user' && window === 'total')
    issues.push({
      code: 'custom',
      path: ['per'],
      input: per,
      message: 'must not be user with the window total',
    })
}

export const BudgetInput = z.strictObject(node).check(checkNode).meta({ id: 'BudgetInput' })
export type BudgetInput = z.infer<typeof BudgetInput>

const BudgetChange = z
  .strictObject({ ...node, change_reason: ChangeReason.optional() })
  .check(checkNode)
  .meta({ id: 'BudgetChange' })
export type BudgetChange = z.infer<typeof BudgetChange>

const usage = {
  used: z.number().describe('Settled and appended amounts of the window'),
  held: z.number().describe('Held by unsettled allows of the window'),
  remaining: z.number().describe('Left for the next request'),
  resets_at: Timestamp.nullable().describe(
    'End of the window, or of the oldest part of a rolling one; null for `total`',
  ),
}

const Usage = z.object({
  window: z.string().describe('Name of the current window, such as `2026-11` or `2026-W48`'),
  from: Timestamp.describe('Start of the window; of `total`, the creation of the budget'),
  kept: z.number().describe('Kept free for reserved children'),
  ...usage,
})
export type BudgetUsage = z.infer<typeof Usage>

const stored = {
  id: z.string(),
  ...node,
  revision: z.int().describe('Number of changes; the same as the ETag'),
  created_at: Timestamp.describe('Time of creation, at which counting began'),
  created_by: z.string(),
  updated_at: Timestamp,
}

/** A budget in entries; `uid` tells it from later ones of the same id. */
export const RecordedBudget = z.strictObject({
  ...stored,
  uid: z.string().describe('names the counters of this budget; a later one of the id has another'),
})
export type RecordedBudget = z.infer<typeof RecordedBudget>

export const Budget = component('Budget', {
  ...stored,
  usage: Usage.nullable().describe('Null for a budget with `per`: see `/usage`'),
})
export type Budget = z.infer<typeof Budget>

const ChangedBudget = Budget.extend({
  warnings: z.array(z.string()).describe('Probable mistakes; the budget is in force'),
  ledger: Receipt.optional(),
}).meta({ id: 'ChangedBudget' })
export type ChangedBudget = z.infer<typeof ChangedBudget>

const BudgetInstance = component('BudgetInstance', {
  value: z
    .string()
    .nullable()
    .describe(
      'Agent, user or value of the label; null for the counter that requests without a value share',
    ),
  ...usage,
})
export type BudgetInstance = z.infer<typeof BudgetInstance>

const BudgetHistory = component('BudgetHistory', {
  data: z.array(
    z.object({
      at: Timestamp.describe('End of the hour, or now for the current one'),
      used: z.number().describe('Used in the window until then'),
      held: z.number().describe('Held by open decisions then'),
    }),
  ),
  limit: z.number().describe('The limit now'),
})
export type BudgetHistory = z.infer<typeof BudgetHistory>

const Id = z.strictObject({ id: PathId })
const reading = {
  plan: 'team',
  roles: ['read', 'approver'],
  scope: 'spend:read',
} as const

export const budgets = {
  listBudgets: endpoint('GET /v1/budgets', {
    ...reading,
    summary: 'List budgets with what is used, held and left',
    text: 'Lists the budgets by id with the usage of their current window. A credential sees those that match its agent.',
    query: z.strictObject({
      ...Paging,
      parent_id: PathId.optional().describe('Only the children of this budget'),
      agent_id: AgentId.optional().describe('Only budgets that requests of this agent can match'),
      unit: Unit.optional(),
    }),
    ok: page(Budget),
  }),
  getBudget: endpoint('GET /v1/budgets/{id}', {
    ...reading,
    summary: 'Get a budget with what is used, held and left',
    text: 'Returns one budget with the usage of its current window. `ETag` is its revision, for `PUT`. A credential sees those that match its agent.',
    problems: ['budget_not_found'],
    params: Id,
    ok: Budget,
    sends: ['ETag'],
  }),
  getBudgetUsage: endpoint('GET /v1/budgets/{id}/usage', {
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'List what each agent, user or label has used of a budget',
    text: 'Lists the values of a budget with `per` that have used or held something in the current window, by value. A budget without `per` has one line with the value null.',
    problems: ['budget_not_found'],
    params: Id,
    query: z.strictObject(Paging),
    ok: page(BudgetInstance),
  }),
  getBudgetHistory: endpoint('GET /v1/budgets/{id}/history', {
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'Get the course of a budget in the last 48 hours',
    text: 'Returns what the current window had used and held at the end of each of the last 48 hours. Hours are sampled once a minute; decisions never read them. The last point is the current state. Empty for a budget with `per`.',
    problems: ['budget_not_found'],
    params: Id,
    ok: BudgetHistory,
  }),
  setBudget: endpoint('PUT /v1/budgets/{id}', {
    plan: 'team',
    viaWriter: true,
    summary: 'Create or replace a budget',
    text: 'Creates a budget (201) or replaces it (200). It counts from its creation. A request is allowed only if every budget that matches it has room. `If-Match` with the `ETag` refuses a change of another version. `parent_id`, `per`, `unit`, `window` and `time_zone` never change.',
    problems: [
      'change_requires_approval',
      'managed_by_policy_set',
      'budget_not_found',
      'budget_fixed',
      'budget_overallocated',
      'budget_tree_invalid',
      'budget_wider_than_parent',
      'too_many_budgets',
      'version_mismatch',
    ],
    params: Id,
    query: Validating,
    body: BudgetChange,
    replaces: true,
    ok: ChangedBudget,
    also: { validation: Validation },
    status: 201,
    alsoStatus: 200,
    takes: ['If-Match'],
    sends: ['Location', 'ETag'],
  }),
  removeBudget: endpoint('DELETE /v1/budgets/{id}', {
    plan: 'team',
    viaWriter: true,
    summary: 'Remove a budget and what it counted',
    text: 'Removes a budget without children. What it counted and its holds are gone: a later budget of the same id begins at zero.',
    problems: [
      'change_requires_approval',
      'managed_by_policy_set',
      'budget_not_found',
      'budget_fixed',
      'budget_has_children',
    ],
    params: Id,
  }),
}
