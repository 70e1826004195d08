import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Timestamp } from './primitives.ts'

export const STAT_KEYS = [
  'decision',
  'reason',
  'agent',
  'action',
  'policy',
  'denied_agent',
  'denied_action',
] as const
export type StatKey = (typeof STAT_KEYS)[number]

export const Stats = z
  .object({
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
  .meta({ id: 'Stats' })
export type Stats = z.infer<typeof Stats>

export const stats = {
  getStats: endpoint({
    method: 'GET',
    path: '/v1/stats',
    plan: 'team',
    roles: ['read', 'approver'],
    scope: null,
    summary: 'Count decisions by time',
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
        .describe('Counts are per value of this fact; `denied_…`: of denied decisions alone'),
      key: z.string().min(1).max(256).optional().describe('This value alone'),
    }),
    ok: Stats,
    status: 200,
  }),
}
