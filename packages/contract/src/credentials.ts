import { z } from 'zod'
import { AgentParam, Scopes } from './agents.ts'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, integer, page, Paging, PathId, Scope, Timestamp } from './primitives.ts'

/** Maximum and default lifetime of a credential in seconds. */
export const MAX_CREDENTIAL_TTL_SECONDS = 365 * 86_400
export const DEFAULT_CREDENTIAL_TTL_SECONDS = 90 * 86_400

export const CredentialInput = z
  .strictObject({
    name: z
      .string()
      .regex(/^[^\p{C}]{1,64}$/u, 'must be 1 to 64 printable characters')
      .nullable()
      .default(null),
    scopes: Scopes.optional().describe('Default with rotate: the name of the old credential'),
    ttl_seconds: integer(60, MAX_CREDENTIAL_TTL_SECONDS)
      .optional()
      .describe('Default: 90 days, or the maximum of the agent'),
    rotate: z
      .strictObject({
        credential_id: PathId,
        overlap_seconds: integer(0, 7 * 86_400)
          .default(0)
          .describe('Seconds for which the old credential stays valid, at most until its expiry'),
      })
      .optional()
      .describe('The credential to replace'),
  })
  .refine(({ scopes, rotate }) => scopes !== undefined || rotate !== undefined, {
    path: ['scopes'],
    message: 'is required: the scopes of the credential',
  })
  .meta({ id: 'CredentialInput' })
export type CredentialInput = z.infer<typeof CredentialInput>

export const CredentialStatus = z
  .enum(['active', 'expired', 'revoked'])
  .meta({ id: 'CredentialStatus' })
export type CredentialStatus = z.infer<typeof CredentialStatus>

/** A credential without its secret and hash. */
export const Credential = component('Credential', {
  id: z.string(),
  agent_id: z.string(),
  name: z.string().nullable(),
  display: z
    .string()
    .describe(
      'Kind of its text, and the last four characters of its id, such as `rmc_…QeUY`; not a key',
    ),
  scopes: z.array(Scope),
  status: CredentialStatus,
  source: z
    .enum(['issued', 'exchange'])
    .describe('Issued by an administrator, or by token exchange'),
  idp_id: z.string().nullable(),
  issued_by: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp,
  rotated_from: z.string().nullable(),
  revoked_at: Timestamp.nullable(),
  revoked_by: z.string().nullable(),
  last_used_at: Timestamp.nullable().describe(
    'Precise to the minute, delayed by up to some seconds',
  ),
})
export type Credential = z.infer<typeof Credential>

/** A whole credential as a tool received it. Other OAuth parameters are ignored. */
const TokenParameters = z
  .looseObject({
    token: z.string().min(1).max(16_384),
    token_type_hint: z.string().max(64).optional(),
  })
  .meta({ id: 'TokenQuestion' })

const forTools = {
  whileSuspended: true,
  plan: 'enterprise',
  roles: ['ingest'],
  body: TokenParameters,
  form: true,
  lenient: true,
  status: 200,
} as const

export const Introspection = z
  .union([
    z.object({
      active: z.literal(true),
      token_type: z.literal('Bearer'),
      scope: z.string().describe('Current scopes, separated by blanks'),
      sub: z.string().describe('The agent'),
      client_id: z.string().describe('The agent'),
      iat: z.int(),
      exp: z.int(),
      agent_id: z.string(),
      credential_id: z.string(),
    }),
    z.object({ active: z.literal(false) }),
  ])
  .meta({ id: 'Introspection' })
export type Introspection = z.infer<typeof Introspection>

export const credentials = {
  listCredentials: endpoint('GET /v1/identity/agents/{agentID}/credentials', {
    plan: 'enterprise',
    roles: ['read', 'approver'],
    summary: 'List the credentials of an agent, newest first',
    text: 'Lists the credentials of an agent, newest first. Secrets and their hashes are never shown.',
    problems: ['agent_not_found'],
    params: AgentParam,
    query: z.strictObject({ ...Paging, status: CredentialStatus.optional() }),
    ok: page(Credential),
  }),
  issueCredential: endpoint('POST /v1/identity/agents/{agentID}/credentials', {
    plan: 'enterprise',
    viaWriter: true,
    secretField: 'secret',
    summary: 'Issue a credential to an agent, or rotate one; its secret is shown once',
    text: 'Issues a credential that acts as this agent alone. `secret` is shown once. `rotate` replaces another credential, which keeps working for `overlap_seconds`.',
    problems: [
      'agent_not_found',
      'credential_not_found',
      'credential_ended',
      'agent_suspended',
      'too_many_credentials',
      'invalid_scope',
    ],
    params: AgentParam,
    body: CredentialInput,
    ok: z.object({
      secret: z.string().nullable().describe('null in the repeat of an Idempotency-Key'),
      secret_available: z.boolean().optional(),
      credential: Credential,
      ledger: Receipt.optional(),
    }),
    status: 201,
  }),
  revokeCredential: endpoint('DELETE /v1/identity/credentials/{credID}', {
    whileSuspended: true,
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Revoke a credential with immediate effect',
    text: 'Revokes a credential on every process of the installation.',
    problems: ['credential_not_found'],
    params: z.strictObject({ credID: PathId }),
    ok: z.object({ id: z.string(), revoked_at: Timestamp, ledger: Receipt.optional() }),
  }),
  introspectCredential: endpoint('POST /v1/identity/introspect', {
    ...forTools,
    summary: 'Introspect a presented credential (RFC 7662)',
    text: 'Tells a tool whether a credential that it received is valid, and whose it is (RFC 7662). An unknown, expired or foreign credential is `active: false`.',
    ok: Introspection,
  }),
  revokeByText: endpoint('POST /v1/identity/revoke', {
    ...forTools,
    summary: 'Revoke a credential by its text; always 200 (RFC 7009)',
    text: 'Revokes a credential by its text (RFC 7009). The answer is 200 for unknown credentials too.',
    ok: z.object({}),
  }),
}
