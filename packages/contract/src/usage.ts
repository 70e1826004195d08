import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Timestamp } from './primitives.ts'

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

export const Usage = z
  .object({
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
  .meta({ id: 'Usage' })
export type Usage = z.infer<typeof Usage>

export const usage = {
  getUsage: endpoint({
    method: 'GET',
    path: '/v1/usage',
    plan: 'team',
    roles: ['read', 'approver'],
    scope: null,
    summary: 'Get the usage by hour, counted from the ledger',
    query: z.strictObject({
      from: Timestamp.optional().describe('Default: 24 hours before `to`'),
      to: Timestamp.optional().describe('Default: now'),
    }),
    ok: Usage,
    status: 200,
  }),
}
