import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { Action, AgentId, FreeForm, Resource, Timestamp } from './primitives.ts'
import { Reason } from './reasons.ts'

export const Decision = z.enum(['allow', 'deny', 'needs_approval']).meta({ id: 'Decision' })
export type Decision = z.infer<typeof Decision>

export const AuthorizeRequest = z
  .strictObject({
    action: Action,
    agent_id: AgentId,
    context: FreeForm.optional(),
    resource: Resource.optional(),
  })
  .meta({ id: 'AuthorizeRequest' })
export type AuthorizeRequest = z.infer<typeof AuthorizeRequest>

/** The request body: a credential may omit its own agent. */
export const AuthorizeBody = AuthorizeRequest.extend({
  agent_id: AgentId.optional().describe(
    'The agent that acts; required with an ingest key, optional with a credential',
  ),
}).meta({ id: 'AuthorizeBody' })
export type AuthorizeBody = z.infer<typeof AuthorizeBody>

/** A rule, permission or limit that took part in the decision. */
export const Match = z.object({
  kind: z.string(),
  id: z.string(),
  revision: z.int().optional().describe('Of a policy, as it was evaluated'),
})
export type Match = z.infer<typeof Match>

const SpendWindow = z.object({
  limit_usd: z.number(),
  spent_usd: z.number().describe('spent and held before this request'),
  remaining_usd: z.number(),
  resets_at: Timestamp,
})

export const SpendState = z.object({
  amount_usd: z.number().nullable(),
  daily: SpendWindow.nullable(),
  monthly: SpendWindow.nullable(),
})
export type SpendState = z.infer<typeof SpendState>

export const AuthorizeAnswer = z
  .object({
    decision: Decision,
    reason: Reason,
    message: z.string(),
    decision_id: z.string(),
    request_id: z.string().optional(),
    agent_id: AgentId,
    action: Action,
    matched: z.array(Match),
    approval: z
      .object({ id: z.string(), status: z.string(), expires_at: Timestamp.nullable() })
      .optional(),
    spend: SpendState.optional(),
    limit_usd: z.number().optional(),
    warnings: z.array(z.string()).optional(),
    ledger: Receipt,
    decided_at: Timestamp,
  })
  .meta({ id: 'AuthorizeAnswer' })
export type AuthorizeAnswer = z.infer<typeof AuthorizeAnswer>

export const authorize = {
  authorize: endpoint({
    method: 'POST',
    path: '/v1/authorize',
    plan: 'team',
    roles: ['ingest'],
    scope: 'authorize',
    viaWriter: true,
    summary: 'Decide whether an agent may act, and record the decision',
    body: AuthorizeBody,
    ok: AuthorizeAnswer,
    status: 200,
  }),
}
