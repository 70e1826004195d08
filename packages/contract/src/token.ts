import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'
export const SUBJECT_TOKEN_TYPES = [
  'urn:ietf:params:oauth:token-type:jwt',
  'urn:ietf:params:oauth:token-type:id_token',
  ACCESS_TOKEN_TYPE,
] as const

const Text = z.string().max(2048)

/** A request of RFC 8693 §2.1. What nobody knows is ignored (RFC 6749 §3.2). */
export const TokenRequest = z
  .looseObject({
    grant_type: Text,
    subject_token: z.string(),
    subject_token_type: Text,
    requested_token_type: Text.optional(),
    scope: Text.optional().describe('Separated by blanks; left out: all that can be had'),
    audience: Text.optional(),
    resource: Text.optional(),
    agent_id: Text.optional().describe('Must be the agent that the token is about'),
    actor_token: z.string().optional().describe('Not supported'),
  })
  .meta({ id: 'TokenRequest' })
export type TokenRequest = z.infer<typeof TokenRequest>

export const TokenAnswer = z
  .object({
    access_token: z.string(),
    issued_token_type: z.literal(ACCESS_TOKEN_TYPE),
    token_type: z.literal('Bearer'),
    expires_in: z.int().describe('Seconds; never longer than the subject token'),
    scope: z.string(),
    credential_id: z.string(),
    agent_id: z.string(),
  })
  .meta({ id: 'TokenAnswer' })
export type TokenAnswer = z.infer<typeof TokenAnswer>

export const token = {
  exchangeToken: endpoint({
    method: 'POST',
    path: '/v1/identity/token',
    plan: 'enterprise',
    roles: ['ingest'],
    scope: null,
    keyless: true,
    form: true,
    lenient: true,
    oauth: true,
    viaWriter: true,
    maxBodyBytes: 32 * 1024,
    summary: 'Exchange the token of a trusted issuer for a credential of an agent (RFC 8693)',
    body: TokenRequest,
    ok: TokenAnswer,
    status: 200,
  }),
}
