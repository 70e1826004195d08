import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { component, Scope } from './primitives.ts'
import type { ProblemCode } from './problem.ts'

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'
export const SUBJECT_TOKEN_TYPES = [
  'urn:ietf:params:oauth:token-type:jwt',
  'urn:ietf:params:oauth:token-type:id_token',
  ACCESS_TOKEN_TYPE,
] as const

const Text = z.string().max(2048)

/** A request of RFC 8693 §2.1. Unknown parameters are ignored (RFC 6749 §3.2). */
export const TokenRequest = z
  .looseObject({
    grant_type: Text,
    subject_token: z.string(),
    subject_token_type: Text,
    requested_token_type: Text.optional(),
    scope: Text.optional().describe('Separated by single blanks. Default: all available scopes'),
    audience: Text.optional(),
    resource: Text.optional(),
    agent_id: Text.optional().describe('Must be the agent of the subject token'),
    actor_token: z.string().optional().describe('Not supported'),
    client_id: Text.optional().describe(
      'With `client_secret`: the id of an ingest key; without a key: the id of the organization',
    ),
    client_secret: Text.optional().describe('The key, if no header has one'),
  })
  // The required fields of another grant type are unknown, so it is rejected first.
  .refine(({ grant_type: type }) => typeof type !== 'string' || type === TOKEN_EXCHANGE, {
    path: ['grant_type'],
    error: `must be ${TOKEN_EXCHANGE}`,
    params: { code: 'unsupported_grant_type' satisfies ProblemCode },
    when: () => true,
  })
  .meta({ id: 'TokenRequest' })
export type TokenRequest = z.infer<typeof TokenRequest>

export const TokenAnswer = component('TokenAnswer', {
  access_token: z.string(),
  issued_token_type: z.literal(ACCESS_TOKEN_TYPE),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Lifetime in seconds, at most that of the subject token'),
  scope: z.string(),
  credential_id: z.string(),
  agent_id: z.string(),
})
export type TokenAnswer = z.infer<typeof TokenAnswer>

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post', 'none'] as const
const AuthMethods = z.array(z.enum(CLIENT_AUTHENTICATION))

/** Authorization server metadata (RFC 8414 §2). */
export const AuthorizationServer = component('AuthorizationServer', {
  issuer: z.url().describe("The server's base URL"),
  token_endpoint: z.url().describe('Endpoint for token exchange (RFC 8693)'),
  token_endpoint_auth_methods_supported: AuthMethods.describe(
    '`none` only if an organization accepts tokens without an ingest key',
  ),
  grant_types_supported: z.array(z.literal(TOKEN_EXCHANGE)).describe('Token exchange only'),
  response_types_supported: z
    .array(z.string())
    .describe('`none`: there is no authorization endpoint'),
  scopes_supported: z.array(Scope).describe('Scopes that a token can be exchanged for'),
  introspection_endpoint: z.url().describe('Endpoint for introspection (RFC 7662)'),
  introspection_endpoint_auth_methods_supported: AuthMethods.describe(
    'Client authentication methods of that endpoint',
  ),
  revocation_endpoint: z.url().describe('Endpoint for revocation (RFC 7009)'),
  revocation_endpoint_auth_methods_supported: AuthMethods.describe(
    'Client authentication methods of that endpoint',
  ),
})
export type AuthorizationServer = z.infer<typeof AuthorizationServer>

export const token = {
  authorizationServer: endpoint('GET /.well-known/oauth-authorization-server', {
    plan: 'enterprise',
    public: true,
    lenient: true,
    summary: 'Get the authorization server metadata (RFC 8414)',
    text: 'Returns the metadata of the OAuth endpoints (RFC 8414, section 2). It needs no key. It is 404 where `REMIT_BASE_URL` is not https, except on loopback.',
    problems: ['not_found'],
    ok: AuthorizationServer,
  }),
  exchangeToken: endpoint('POST /v1/identity/token', {
    plan: 'enterprise',
    roles: ['ingest'],
    keyless: 'by_setting',
    form: true,
    lenient: true,
    viaWriter: true,
    maxBodyBytes: 32 * 1024,
    summary: 'Exchange a token of a trusted issuer for an agent credential (RFC 8693)',
    text: 'Exchanges a token of a trusted issuer for a short credential (RFC 8693), as form or JSON. Refusals have the members `error` and `error_description` of RFC 6749, section 5.2, beside those of a problem.',
    problems: ['invalid_grant', 'invalid_scope', 'invalid_target', 'unsupported_grant_type'],
    body: TokenRequest,
    ok: TokenAnswer,
  }),
}
