import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { component, Timestamp } from './primitives.ts'

export const STAT_KEYS = [
  'decision',
  'reason',
  'agent',
  'action',
  'policy',
  'observed',
  'denied_agent',
  'denied_action',
] as const
export type StatKey = (typeof STAT_KEYS)[number]

export const Stats = component('Stats', {
  data: z.array(
    z.object({
      from: Timestamp.describe('Start of the bucket'),
      key: z.string().describe('A value of `by`; `*` for all beyond the fifty most frequent'),
      count: z.int().describe('Number of decisions'),
      amount_usd: z.number().describe('Sum of the amounts of allowed decisions'),
    }),
  ),
  up_to_seq: z.int().nullable().describe('The last counted entry; null before the first count'),
})
export type Stats = z.infer<typeof Stats>

export const stats = {
  getStats: endpoint('GET /v1/stats', {
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'Count decisions by time',
    text: 'Counts decisions by time and one fact, for charts. One process of the installation counts them from the ledger some seconds later; `up_to_seq` is the last counted entry. At most 1,000 buckets are returned.',
    query: z.strictObject({
      from: Timestamp.optional().describe('Default: sixty buckets before `to`'),
      to: Timestamp.optional().describe('Default: now'),
      bucket: z
        .enum(['minute', 'hour', 'day'])
        .default('hour')
        .describe('Minutes are kept for 7 days'),
      by: z
        .enum(STAT_KEYS)
        .default('decision')
        .describe(
          'Counts are per value of this fact; `denied_…`: of denied decisions alone; `observed`: `KIND:ID:WOULD` of each rule in the mode `observe` that matched, and `*:incomplete`',
        ),
      key: z.string().min(1).max(256).optional().describe('This value alone'),
    }),
    ok: Stats,
  }),
}

/** The meters, counted from entries of the ledger only. */
export const METERS = [
  'decisions',
  'entries',
  'active_agents',
  'guard_checks',
  'scorer_results',
  'judge_calls',
] as const
export type Meter = (typeof METERS)[number]

export const Usage = component('Usage', {
  data: z.array(
    z.object({
      meter: z.enum(METERS).describe('What is counted'),
      hour: Timestamp.describe('Start of the hour'),
      quantity: z.int().describe('The count'),
      from_seq: z.int().describe('First entry of the hour'),
      to_seq: z.int().describe('Last entry of the hour'),
    }),
  ),
})
export type Usage = z.infer<typeof Usage>

export const usage = {
  getUsage: endpoint('GET /v1/usage', {
    plan: 'team',
    roles: ['read', 'approver'],
    summary: 'Get the usage by hour, counted from the ledger',
    text: 'Returns the usage of past hours. It is counted from the ledger, so that an export can confirm every count: each row names its entries. The last hour appears some minutes after its end.',
    query: z.strictObject({
      from: Timestamp.optional().describe('Default: 24 hours before `to`'),
      to: Timestamp.optional().describe('Default: now'),
    }),
    ok: Usage,
  }),
}
