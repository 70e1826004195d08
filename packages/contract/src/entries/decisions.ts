import { z } from 'zod'
import { Match } from '../authorize.ts'
import { AppendOutcome } from '../ledger.ts'
import { byWindow } from '../fit/values.ts'
import { Amounts, Plan, Timestamp, Usd } from '../primitives.ts'
import { observations } from '../rules.ts'
import { EVENT, json } from './row.ts'
import type { EntryRows } from './row.ts'

const window = z.object({ limit_usd: z.number(), spent_usd: z.number() }).nullable()
const spend = z.object({ amount_usd: z.number().nullable(), ...byWindow('word', () => window) })

const charge = {
  budget: z.string(),
  uid: z.string(),
  value: z
    .string()
    .nullable()
    .optional()
    .describe('of a budget with `per`; null for what requests without a value share'),
  unit: z.string(),
  window: z.string(),
}

/** The decision is optional in both kinds, since the request alone tells them apart. */
const appended = z.strictObject({
  key_id: z.string().nullable().optional().describe('or `credential_id`, of the caller'),
  credential_id: z.string().optional(),
  amounts: Amounts.optional(),
  charges: z
    .array(z.strictObject({ ...charge, used: z.number() }))
    .optional()
    .describe('what it used of budgets'),
  cost_usd: Usd.optional(),
  decision_id: z.string().nullable().optional(),
  metadata: json.optional(),
  occurred_at: Timestamp.optional(),
  outcome: AppendOutcome.optional(),
  resource_properties: json.optional(),
  settle: z.enum(['held', 'release']).optional(),
  trace_id: z.string().optional(),
})

export const decisions = {
  'authorization.decided': {
    ...EVENT,
    says: 'a request was decided, by `POST /v1/authorize` or AuthZEN',
    data: z.strictObject({
      decision_id: z.string(),
      context: json,
      matched: z.array(Match),
      plan: Plan,
      config_version: z.int().describe('a counter of rule changes: equal numbers mean equal rules'),
      spend: spend.optional(),
      hold: z.object({ usd: z.number(), expires_at: Timestamp.nullable() }).optional(),
      charges: z
        .array(
          z.strictObject({
            ...charge,
            held: z.number(),
            expires_at: Timestamp.nullable(),
            observed: z.literal(true).optional().describe('the budget does not deny'),
          }),
        )
        .optional()
        .describe('what an allow holds of budgets'),
      amount_invalid: z
        .literal(true)
        .optional()
        .describe('the amount is not a valid USD amount, and no limit refused it'),
      ...observations,
      approval: z
        .object({ id: z.string(), status: z.string() })
        .optional()
        .describe('`id`, `status`'),
      action_properties: json.optional(),
      readings: z
        .array(z.object({ resource: z.string(), context: json }))
        .optional()
        .describe(
          '[other readings](hooks.md#claude-code) of a joined tool name, each with its resource and the members of the context that differ',
        ),
      replaced: z
        .array(z.string())
        .optional()
        .describe('the places in `context` whose values were not sent'),
      resource_properties: json.optional(),
      resource_type: z
        .string()
        .optional()
        .describe('if the text of the resource does not contain it'),
      span_id: z.string().optional(),
      trace_id: z
        .string()
        .optional()
        .describe('with `span_id`, of the `traceparent` of the caller'),
      subject: json.optional(),
      warnings: z.array(z.string()).optional(),
    }),
    agent: 'always',
    event: {
      is: 'authorization.denied',
      on: 'deny',
      sends: [
        'decision_id',
        'agent_id',
        'action',
        'resource',
        'decision',
        'reason',
        'matched',
        'spend',
      ],
    },
    carried: 'open_request',
  },
  'trust.evaluated': {
    ...EVENT,
    says: '`POST /v1/identity/authorize`; the result is in `decision` and `reason`',
    data: z.strictObject({
      source_agent_id: z.string(),
      target_agent_id: z.string(),
      policy_id: z.string().nullable(),
      config_version: z.int(),
      context: json,
    }),
    agent: 'always',
  },
  'spend.rebuilt': {
    ...EVENT,
    says: 'the operator replaced spend totals and holds by those of the ledger',
    data: z.strictObject({
      entries: z.int(),
      differences: z.array(json).describe('the first hundred'),
    }),
    agent: 'never',
    touches: 'all',
  },
  'quota.threshold': {
    ...EVENT,
    says: 'the decisions of the organization reached 80 or 100 percent of its monthly limit',
    data: z.strictObject({
      month: z.string(),
      threshold_percent: z.int(),
      limit: z.int(),
      decisions: z.int(),
    }),
    agent: 'never',
    event: { is: 'quota.threshold', sends: 'data' },
  },
  'spend.threshold': {
    ...EVENT,
    says: "an agent's spend reached 50, 80 or 100 percent of a cap",
    data: z.strictObject({
      agent_id: z.string(),
      window: z.string(),
      threshold_percent: z.int(),
      limit_usd: z.number(),
      spent_usd: z.number(),
    }),
    agent: 'always',
    event: { is: 'spend.threshold', sends: 'data' },
  },
  'budget.threshold': {
    ...EVENT,
    says: 'a budget reached a percentage of `warn_at`',
    data: z.strictObject({
      budget_id: z.string(),
      value: z.string().nullable().optional().describe('of a budget with `per`'),
      window: z.string(),
      threshold_percent: z.int(),
      limit: z.number(),
      used: z.number().describe('used and held'),
      unit: z.string(),
    }),
    agent: 'never',
    event: { is: 'budget.threshold', sends: 'data' },
  },
  'entry.appended': {
    ...EVENT,
    says: 'a caller appended it with `POST /v1/ledger`; `data` has the members that the caller sent',
    data: appended,
    agent: 'sometimes',
  },
  'enforcement.gap': {
    ...EVENT,
    says: 'a caller reported that something ran without an allow: `POST /v1/ledger` with `"decision_id": null`, or with an `outcome` and a decision that is not an allow',
    data: appended.extend({
      decision_id: appended.shape.decision_id.describe('null, or a decision that is not an allow'),
    }),
    agent: 'sometimes',
    event: {
      is: 'enforcement.gap',
      sends: ['decision_id', 'agent_id', 'action', 'resource', 'outcome'],
    },
  },
  'selftest.checked': {
    ...EVENT,
    says: 'an agent host asked for a [reserved action](sdk.md#self-test); not a decision for reports',
    data: z.strictObject({ decision_id: z.string(), context: json }),
    agent: 'always',
  },
} as const satisfies EntryRows
