import { z } from 'zod'
import { Agent } from '../agents.ts'
import { Credential } from '../credentials.ts'
import { Issuer } from '../issuers.ts'
import { Scope, Timestamp } from '../primitives.ts'
import { by, EVENT, json } from './row.ts'
import type { EntryRows } from './row.ts'

const creation = { area: 'iam', does: 'creation' } as const
const change = { area: 'iam', does: 'change' } as const
const deletion = { area: 'iam', does: 'deletion' } as const

const agent = Agent.omit({ ledger: true }).strict()
const agents = {
  data: z.strictObject({ agent, agent_id: z.string(), ...by }),
  agent: 'always',
  event: null,
  carried: 'state',
  touches: ['agents', 'stops'],
} as const

const credential = Credential.strict()
const credentials = { agent: 'always', event: null, carried: 'state', touches: [] } as const

const issuer = Issuer.omit({ ledger: true }).strict()
const issuers = { agent: 'never', event: null, carried: 'state', touches: 'all' } as const

export const agentKinds = {
  'agent.registered': { ...agents, says: 'an agent was registered', change: creation },
  'agent.updated': { ...agents, says: 'an agent was changed', change },
  'agent.suspended': {
    ...agents,
    says: 'an agent was suspended; also possible for unregistered agents',
    data: z.strictObject({
      agent: agent.optional(),
      agent_id: z.string(),
      reason: z.string().nullable(),
      ...by,
    }),
    change,
  },
  'agent.resumed': {
    ...agents,
    says: 'an agent was resumed',
    data: z.strictObject({ agent: agent.optional(), agent_id: z.string(), ...by }),
    change,
  },
  'agent.removed': {
    ...agents,
    says: 'an agent was removed permanently',
    data: z.strictObject({
      agent: agent.describe('before the removal'),
      agent_id: z.string(),
      revoked_credentials: z.array(z.string()).describe('ids'),
      ...by,
    }),
    change: deletion,
  },
  'credential.issued': {
    ...credentials,
    says: 'a credential was issued, directly or by a token exchange',
    data: z.strictObject({ credential, ...by }),
    change: creation,
  },
  'credential.rotated': {
    ...credentials,
    says: 'a new credential replaced an old one',
    data: z.strictObject({
      credential: credential.describe('the new one'),
      rotated_from: z
        .object({ id: z.string(), expires_at: Timestamp })
        .describe('`id` of the old one and its expiry, `expires_at`'),
      ...by,
    }),
    change,
  },
  'credential.revoked': {
    ...credentials,
    says: 'a credential was revoked; or, beyond 500, those of a removed agent or issuer',
    data: z.strictObject({
      credential: credential.optional().describe('or the following members'),
      credential_ids: z.array(z.string()).optional(),
      cause: z.enum(['agent_removed', 'issuer_removed']).optional(),
      agent_id: z.string().optional(),
      idp_id: z.string().optional(),
      ...by,
    }),
    agent: 'sometimes',
    change: deletion,
  },
  'credential.refused': {
    ...EVENT,
    says: 'a credential was used after its end; at most once a minute',
    data: z.strictObject({ credential_id: z.string(), reason: z.string() }),
    agent: 'always',
  },
  'identity.impersonation.refused': {
    ...EVENT,
    says: 'an agent called as another one; each name once a minute, at most ten',
    data: z.strictObject({
      agent_id: z.string().nullable().describe('of the credential'),
      asked_agent_id: z.string(),
      credential_id: z.string(),
      request_id: z.string(),
      unrecorded: z.int().optional().describe('refusals without an entry since the last one'),
    }),
    agent: 'sometimes',
  },
  'issuer.trusted': {
    ...issuers,
    says: 'an issuer was trusted',
    data: z.strictObject({ issuer, ...by }),
    change: creation,
  },
  'issuer.removed': {
    ...issuers,
    says: 'a trusted issuer was removed',
    data: z.strictObject({
      issuer,
      revoked_credentials: z.array(z.string()).describe('ids'),
      ...by,
    }),
    change: deletion,
  },
  'issuer.fetch_failed': {
    ...EVENT,
    says: "the first failure to fetch the issuer's keys after a success",
    data: z.strictObject({ idp_id: z.string(), issuer: z.string(), error: z.string() }),
    agent: 'never',
  },
  'token.exchanged': {
    ...EVENT,
    says: 'a token was exchanged; `credential.issued` follows',
    data: z.strictObject({
      idp_id: z.string(),
      issuer: z.string(),
      subject: z.string(),
      credential_id: z.string(),
      scopes: z.array(Scope),
      expires_at: Timestamp,
      jti_hash: z.string().optional(),
    }),
    agent: 'always',
  },
  'token.refused': {
    ...EVENT,
    says: 'a token was refused; many refusals share one entry with a count',
    data: z.strictObject({
      reason: z.string(),
      idp_id: z.string().nullable(),
      issuer: z.string().optional(),
      subject: z.string().optional(),
      jti_hash: z.string().optional(),
      found: json.optional().describe('members of the token'),
      allowed: json.optional().describe('accepted values'),
      count: z.int().optional(),
    }),
    agent: 'never',
  },
} as const satisfies EntryRows
