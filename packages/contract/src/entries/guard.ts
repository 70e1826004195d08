import { z } from 'zod'
import { GuardAnswer, GuardRequest } from '../guard.ts'
import { Timestamp } from '../primitives.ts'
import { EVENT, json } from './row.ts'
import type { EntryRows } from './row.ts'

const { action, flagged, score, threshold, reasons, model } = GuardAnswer.shape
const source = GuardRequest.shape.source.unwrap()
const direction = GuardRequest.shape.direction.unwrap()

export const guard = {
  'guard.checked': {
    ...EVENT,
    says: "the guard's verdict was not a plain allow; `agent_id` is the agent that the text came from",
    data: z.strictObject({
      action: action.describe('`allow`, `redact`, `block`'),
      flagged,
      score,
      threshold,
      reasons,
      source,
      direction,
      model,
      content_hash: z.string(),
      session_id: z.string().optional(),
      request_id: z.string().optional(),
    }),
    agent: 'sometimes',
  },
  'guard.counted': {
    ...EVENT,
    says: 'ten minutes of plain allows; earlier at 500 agents or when the server stops',
    data: z.strictObject({
      action: z.literal('allow').describe('`allow`'),
      from: Timestamp,
      to: Timestamp,
      checks: z.int(),
      agents: z
        .array(z.object({ agent_id: z.string().nullable(), checks: z.int() }))
        .describe('list of `agent_id`, null for none, and `checks`'),
    }),
    agent: 'never',
  },
  'scorer.ran': {
    ...EVENT,
    says: 'a scorer ran',
    data: z.strictObject({
      scorer: z.string(),
      version: z.string(),
      threshold: z.number(),
      count: z.int(),
      scored: z.int(),
      failed: z.int().describe('below the threshold'),
      mean: z.number().nullable(),
      pass_rate: z.number().nullable(),
      errors_by_code: z.record(z.string(), z.int()),
      content_hash: z.string(),
      cost_usd: z.number().optional(),
      facts: json.optional(),
    }),
    agent: 'never',
  },
} as const satisfies EntryRows
