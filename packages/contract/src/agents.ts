import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { DEFAULT_SCOPES } from './lists.ts'
import {
  AgentId,
  component,
  integer,
  mapOf,
  page,
  Paging,
  PathId,
  Scope,
  strictComponent,
  Timestamp,
} from './primitives.ts'
import { hasVisibleCharacter, isLine, toLine } from './fit/values.ts'

const LINE_RULE = 'without control or format characters or outer blanks'

/** A line of free text. */
const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(isLine, `must be text ${LINE_RULE}`)
    .refine(hasVisibleCharacter, 'must have a visible character')

const LABEL_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/

const Labels = mapOf(
  z.string().regex(LABEL_NAME, 'must be 1 to 63 of A-Z a-z 0-9 . _ / -, alphanumeric at its ends'),
  z.union([z.literal(''), line(255)]),
).refine((labels) => Object.keys(labels).length <= 32, 'must be at most 32 labels')

/** A person or team that is accountable for an agent. */
export const Owner = strictComponent('AgentOwner', {
  type: z.enum(['user', 'team']),
  id: AgentId,
  email: z.email('must be an e-mail address').max(254).optional(),
})
export type Owner = z.infer<typeof Owner>

/** Each scope once; stored in alphabetical order, since the order has no meaning. */
export const Scopes = z
  .array(Scope)
  .min(1, 'must have at least one scope')
  .refine((scopes) => new Set(scopes).size === scopes.length, 'must name each scope once')
  .transform((scopes) => scopes.toSorted())

/** The longest subject, in bytes of UTF-8: an index of the registry must hold it. */
export const MAX_SUBJECT_BYTES = 1024
const encoder = new TextEncoder()
const Subject = z
  .string()
  .min(1)
  .max(MAX_SUBJECT_BYTES)
  .refine(
    (text) => encoder.encode(text).length <= MAX_SUBJECT_BYTES,
    `must be at most ${MAX_SUBJECT_BYTES} bytes of UTF-8`,
  )

const Federation = z.strictObject({
  issuers: z
    .array(PathId)
    .max(20)
    .default([])
    .describe('Trusted issuers whose tokens identify the agent'),
  subjects: z
    .array(z.strictObject({ idp_id: PathId, subject: Subject }))
    .max(20)
    .default([])
    .describe('Subjects of issuers that identify this agent, compared byte by byte'),
})

const shape = {
  name: line(128).nullable(),
  description: z.string().max(1024).nullable(),
  owners: z.array(Owner).min(1, 'must have at least one owner').max(20),
  environment: line(64).nullable(),
  labels: Labels,
  allowed_scopes: Scopes.describe(
    'Scopes that its credentials may have; removing one also removes it from existing credentials',
  ),
  max_credential_ttl_seconds: integer(60, 31_536_000).nullable(),
  federation: Federation,
  spiffe_id: z
    .string()
    .max(2048)
    .regex(
      /^spiffe:\/\/[a-z0-9._-]{1,255}(?:\/[A-Za-z0-9._-]+)+$/,
      'must be a SPIFFE ID, such as spiffe://example.org/agents/payer',
    )
    .nullable(),
  agent_card_url: z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .max(2048)
    .nullable()
    .describe('Stored as text and never fetched'),
}

export const AgentInput = strictComponent('AgentInput', {
  agent_id: AgentId.optional().describe('Default: a generated id'),
  name: shape.name.default(null),
  description: shape.description.default(null),
  owners: shape.owners,
  environment: shape.environment.default(null),
  labels: shape.labels.default({}),
  allowed_scopes: shape.allowed_scopes.default([...DEFAULT_SCOPES]),
  max_credential_ttl_seconds: shape.max_credential_ttl_seconds.default(null),
  federation: shape.federation.default({ issuers: [], subjects: [] }),
  spiffe_id: shape.spiffe_id.default(null),
  agent_card_url: shape.agent_card_url.default(null),
})
export type AgentInput = z.infer<typeof AgentInput>

export const AgentStatus = z.enum(['active', 'suspended']).meta({ id: 'AgentStatus' })
export type AgentStatus = z.infer<typeof AgentStatus>

/** An emergency stop must not fail for its reason, so that only the length is checked. */
export const SuspensionReason = z
  .string()
  .max(500)
  .nullable()
  .transform((text) => toLine(text ?? ''))

/** Omitted members do not change. */
export const AgentChange = z
  .strictObject({
    ...shape,
    status: AgentStatus.describe('suspended: every decision about the agent is deny'),
    suspended_reason: SuspensionReason.describe(
      'Shown in denials, as one line; only with status suspended. Blank text counts as none.',
    ),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must have at least one member')
  .refine(({ status, suspended_reason: reason }) => !reason || status === 'suspended', {
    path: ['suspended_reason'],
    message: 'is only allowed with status suspended',
  })
  .meta({ id: 'AgentChange' })
export type AgentChange = z.infer<typeof AgentChange>

export const Agent = component('Agent', {
  agent_id: z.string(),
  ...shape,
  allowed_scopes: z.array(Scope),
  status: AgentStatus,
  suspended_at: Timestamp.nullable(),
  suspended_reason: z.string().nullable(),
  created_at: Timestamp,
  created_by: z.string(),
  updated_at: Timestamp,
  version: z.int().describe('Number of changes; the same as the ETag'),
  ledger: Receipt.optional(),
})
export type Agent = z.infer<typeof Agent>

export const AgentParam = z.strictObject({ agentID: AgentId })
const reading = { plan: 'enterprise', roles: ['read', 'approver'] } as const
const changing = { plan: 'enterprise', viaWriter: true } as const

export const agents = {
  listAgents: endpoint('GET /v1/identity/agents', {
    ...reading,
    summary: 'List agents',
    text: 'Lists the registered agents.',
    query: z.strictObject(Paging),
    ok: page(Agent),
  }),
  registerAgent: endpoint('POST /v1/identity/agents', {
    ...changing,
    summary: 'Register an agent; an id is never reused',
    text: 'Registers an agent. Its id is never given again, not even after a removal.',
    problems: ['agent_exists', 'too_many_agents', 'subject_taken', 'issuer_not_found'],
    body: AgentInput,
    ok: Agent,
    status: 201,
    sends: ['Location', 'ETag'],
  }),
  getAgent: endpoint('GET /v1/identity/agents/{agentID}', {
    ...reading,
    summary: 'Get an agent',
    text: 'Returns one registered agent. `ETag` is its version.',
    problems: ['agent_not_found'],
    params: AgentParam,
    ok: Agent,
    sends: ['ETag'],
  }),
  changeAgent: endpoint('PATCH /v1/identity/agents/{agentID}', {
    ...changing,
    summary: 'Update, suspend or reactivate an agent',
    text: 'Changes the given members of an agent. `status: "suspended"` denies every decision about it at once, `status: "active"` ends that. With `If-Match` an outdated change is 412.',
    problems: ['agent_not_found', 'subject_taken'],
    params: AgentParam,
    body: AgentChange,
    ok: Agent,
    takes: ['If-Match'],
    sends: ['ETag'],
  }),
  removeAgent: endpoint('DELETE /v1/identity/agents/{agentID}', {
    ...changing,
    summary: 'Remove an agent permanently and revoke its credentials',
    text: 'Removes an agent for good and revokes all its credentials. Decisions about it are denied from then on.',
    problems: ['agent_not_found'],
    params: AgentParam,
    takes: ['If-Match'],
  }),
}
