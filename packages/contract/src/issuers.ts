import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { DEFAULT_SCOPES, EXCHANGEABLE, PRESETS, SIGNATURE_ALGS } from './lists.ts'
import {
  AgentId,
  component,
  integer,
  mapOf,
  page,
  Paging,
  PathId,
  strictComponent,
  Timestamp,
} from './primitives.ts'
import { Validating, Validation } from './validation.ts'

export const SignatureAlg = z.enum(SIGNATURE_ALGS).meta({ id: 'SignatureAlg' })
export type SignatureAlg = z.infer<typeof SignatureAlg>

const distinct = (values: readonly unknown[]): boolean => new Set(values).size === values.length
const TEXT = /^[^\p{C}]+$/u
const text = (max: number) =>
  z.string().min(1).max(max).regex(TEXT, 'must be printable, without control characters')

/** Technical claims of every token; they do not identify the subject. */
const NOT_ABOUT_ANYONE = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti'])
const ClaimName = text(128).refine(
  (name) => !NOT_ABOUT_ANYONE.has(name),
  'must be a claim that identifies the subject; this one is always checked',
)
/** A URL as text. */
export const Address = (max: number) =>
  text(max).refine((address) => address.trim() === address, 'must not start or end with a blank')
const Value = z.union([text(1024), z.number(), z.boolean()])

/** A test of one claim of the token; a claim that is a list or an object never passes. */
export const ClaimCondition = z
  .union([
    z.strictObject({ claim: ClaimName, equals: Value }),
    z.strictObject({ claim: ClaimName, in: z.array(Value).min(1).max(100) }),
    z.strictObject({
      claim: ClaimName,
      prefix: text(1024).regex(
        /[:/@#]$/,
        'must end with one of : / @ #, or it also matches longer names',
      ),
    }),
  ])
  .meta({ id: 'ClaimCondition' })
export type ClaimCondition = z.infer<typeof ClaimCondition>

const Conditions = z.array(ClaimCondition).max(16)

/** Mapping of a token to a registered agent. */
export const AgentMapping = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('claim').describe('The claim contains the id of the agent'),
      claim: ClaimName,
    }),
    z.strictObject({
      type: z.literal('subjects').describe('The agent lists the subject in its federation'),
    }),
    z.strictObject({
      type: z.literal('rules'),
      rules: z
        .array(z.strictObject({ match: Conditions.min(1), agent_id: AgentId }))
        .min(1)
        .max(100),
    }),
  ])
  .meta({ id: 'AgentMapping' })
export type AgentMapping = z.infer<typeof AgentMapping>

export const KeySource = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('discovery') }),
    z.strictObject({ type: z.literal('url'), url: Address(2048) }),
    z.strictObject({
      type: z.literal('inline'),
      keys: z.array(mapOf(z.string(), z.unknown())).min(1).max(100),
    }),
  ])
  .meta({ id: 'KeySource' })
export type KeySource = z.infer<typeof KeySource>

const shape = {
  issuer: Address(512).describe('Compared byte by byte with the claim iss'),
  preset: z.enum(PRESETS).nullable().default(null),
  audiences: z
    .array(text(255).refine((audience) => !audience.includes('*'), 'must not have *'))
    .min(1)
    .max(10)
    .refine(distinct, 'must name each audience once'),
  allow_foreign_audiences: z
    .boolean()
    .default(false)
    .describe('True if a token may have further audiences'),
  jwks: KeySource.default({ type: 'discovery' }),
  allowed_algs: z
    .array(SignatureAlg)
    .min(1)
    .max(SIGNATURE_ALGS.length)
    .refine(distinct, 'must name each algorithm once')
    .default(['RS256', 'ES256']),
  allowed_typ: z
    .array(z.union([text(64), z.null()]))
    .min(1)
    .max(8)
    .default(['JWT', 'at+jwt', null])
    .describe('Header typ of the token, case-insensitive; null: it may be missing'),
  conditions: Conditions.default([]),
  agent: AgentMapping,
  max_token_age_seconds: integer(60, 2 * 86_400).default(3600),
  clock_skew_seconds: integer(0, 120).default(30),
  replay: z
    .enum(['single_use', 'until_exp'])
    .default('single_use')
    .describe('until_exp: a token may be exchanged repeatedly, once a minute per subject'),
  require_jti: z.boolean().default(true),
  scopes: z
    .array(z.enum(EXCHANGEABLE))
    .min(1)
    .refine(distinct, 'must name each scope once')
    .default([...DEFAULT_SCOPES]),
  credential_ttl_seconds: integer(60, 3600).default(900),
  expires_at: Timestamp.nullable().default(null),
  enabled: z.boolean().default(true),
}

export const IssuerInput = strictComponent('IssuerInput', {
  ...shape,
  audiences: shape.audiences
    .optional()
    .describe("Default: the URL of this server's token endpoint"),
  replay: shape.replay.unwrap().optional(),
  require_jti: shape.require_jti.unwrap().optional(),
  max_token_age_seconds: shape.max_token_age_seconds
    .unwrap()
    .optional()
    .describe('Default: as the preset says, else 3600'),
  allowed_typ: shape.allowed_typ.unwrap().optional(),
})
export type IssuerInput = z.infer<typeof IssuerInput>

/** The terms of an issuer. Immutable: an issuer can only be removed. */
export const IssuerTerms = z.object(shape)
export type IssuerTerms = z.infer<typeof IssuerTerms>

export const Issuer = component('Issuer', {
  id: z.string(),
  ...shape,
  keys: z
    .object({
      count: z.int(),
      fetched_at: Timestamp.nullable(),
      error: z.string().nullable().describe('Error of the last fetch of the keys'),
    })
    .describe('The keys of the last fetch'),
  created_at: Timestamp,
  created_by: z.string(),
  ledger: Receipt.optional(),
})
export type Issuer = z.infer<typeof Issuer>

export const issuers = {
  listIssuers: endpoint('GET /v1/identity/idp', {
    plan: 'enterprise',
    roles: ['read', 'approver'],
    summary: 'List trusted issuers',
    text: 'Lists the trusted issuers with the state of their keys.',
    query: z.strictObject(Paging),
    ok: page(Issuer),
  }),
  trustIssuer: endpoint('POST /v1/identity/idp', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Add a trusted issuer',
    text: 'Trusts an issuer: its tokens can be exchanged for credentials under the given conditions. An issuer cannot be changed, only removed and trusted anew. `validate=true` checks the terms and fetches no keys.',
    problems: ['issuer_exists', 'too_many_issuers'],
    query: Validating,
    body: IssuerInput,
    ok: Issuer,
    also: { validation: Validation },
    status: 201,
    alsoStatus: 200,
  }),
  removeIssuer: endpoint('DELETE /v1/identity/idp/{idpID}', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Remove a trusted issuer and revoke the credentials from its tokens',
    text: 'Removes a trusted issuer and revokes every credential that its tokens were exchanged for.',
    problems: ['issuer_not_found'],
    params: z.strictObject({ idpID: PathId }),
  }),
}
