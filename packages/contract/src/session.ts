import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { component, Plan, Role, Timestamp } from './primitives.ts'

const SessionPrincipal = z.object({
  type: z.enum(['person', 'key', 'agent']).describe('Kind of the principal'),
  id: z.string(),
  name: z.string().nullable(),
  email: z.string().nullable().describe('The verified address, or the person that the key names'),
  role: Role.nullable().describe('null for an agent, whose credential has scopes'),
})

export const Session = component('Session', {
  principal: SessionPrincipal.nullable().describe('null where nobody is signed in'),
  organization: z.object({ id: z.string(), name: z.string(), plan: Plan }).nullable(),
  edition: z.enum(['community', 'enterprise']),
  evaluation: z.boolean().describe('True if the modules run without a license'),
  license: z
    .object({
      expires_at: Timestamp,
      grace_ends_at: Timestamp.describe('A later start does not load the modules'),
    })
    .nullable()
    .describe(
      'The period of the license, for administrators; null without one, and on a hosted service',
    ),
  endpoints: z
    .array(z.string())
    .describe('The endpoints that the principal may call, such as `POST /v1/policies`'),
  login: z
    .object({
      key: z.boolean().describe('True if a key can be exchanged for a session'),
      oidc: z
        .object({ label: z.string().describe('Its name') })
        .nullable()
        .describe('The identity provider; null without one'),
      organizations: z
        .boolean()
        .describe('True if an organization has an identity provider of its own'),
    })
    .describe('The ways to sign in'),
})
export type Session = z.infer<typeof Session>

export const SessionInput = z
  .strictObject({ key: z.string().min(1).max(256).describe('An ingest key') })
  .meta({ id: 'SessionInput' })

export const session = {
  getSession: endpoint('GET /v1/session', {
    plan: 'open',
    keyless: 'always',
    anyPrincipal: true,
    summary: 'Get the caller, its organization and the endpoints that it may call',
    text: 'Returns the caller of the session cookie or key, its organization, and the endpoints of this server that it may call. Without a valid session, `principal` is null. The console shows what this lists.',
    ok: Session,
  }),
  startSession: endpoint('POST /v1/session', {
    plan: 'open',
    public: true,
    sameOrigin: true,
    summary: 'Exchange an ingest key for a session cookie',
    text: 'Exchanges an ingest key for a session cookie. The session has the rights of the key and ends with it, after an hour without a request, and after twelve hours. Only pages of this server can sign in.',
    problems: ['unauthorized', 'csrf_refused', 'key_login_off', 'rate_limited'],
    body: SessionInput,
    sends: ['Set-Cookie'],
  }),
  endSession: endpoint('DELETE /v1/session', {
    plan: 'open',
    keyless: 'always',
    anyPrincipal: true,
    summary: 'End the session of the cookie',
    text: 'Ends the session on every process of the installation and removes the cookie. For a person whose identity provider has its own sign-out, `Location` is its URL.',
    problems: ['csrf_refused'],
    sends: ['Set-Cookie'],
  }),
}
