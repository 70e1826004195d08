import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Address } from './issuers.ts'
import { Receipt } from './ledger.ts'
import { PersonRole } from './people.ts'
import { component, strictComponent, Timestamp } from './primitives.ts'

const Domain = z
  .string()
  .max(253)
  .regex(
    /^(?=.*\.)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.|$))+(?<!\.)$/,
    'must be a domain name in lower case, such as example.com',
  )

const text = (max: number) =>
  z
    .string()
    .regex(new RegExp(`^[!-~]{1,${max}}$`), `must be 1 to ${max} printable ASCII characters`)

const RoleOfGroup = z.strictObject({
  group: z
    .string()
    .regex(/^[^\p{C}]{1,256}$/u, 'must be 1 to 256 printable characters')
    .describe('Value of the role claim'),
  role: PersonRole.describe('Role of the people with that value'),
})

export const LoginProviderInput = strictComponent('LoginProviderInput', {
  issuer: Address(2048).describe(
    'URL of the OpenID provider. The server reads its metadata before it stores it.',
  ),
  client_id: text(256).describe('Identifier of this server at the provider'),
  client_secret: text(1024)
    .nullable()
    .optional()
    .describe(
      'Secret of the client; null for a public client. It is never shown again. Omit it to keep the stored one of the same issuer and client.',
    ),
  scopes: z
    .string()
    .regex(
      /^(?=(?:.* )?openid(?: |$))[!-~]{1,64}(?: [!-~]{1,64}){0,19}$/,
      'must be at most 20 scopes, separated by blanks, one of them openid',
    )
    .default('openid profile email')
    .describe('Scopes to ask for, separated by blanks'),
  role_claim: text(256).default('groups').describe('Claim with the groups of the person'),
  role_map: z
    .array(RoleOfGroup)
    .max(100)
    .default([])
    .describe('Roles by group, taken at each sign-in. Empty: roles are given by invitation.'),
  domains: z
    .array(Domain)
    .max(20)
    .default([])
    .describe('Domains of the addresses that the provider may vouch for. Empty: all.'),
})
export type LoginProviderInput = z.infer<typeof LoginProviderInput>

export const LoginProvider = component('LoginProvider', {
  issuer: z.string().describe('URL of the OpenID provider'),
  client_id: z.string().describe('Identifier of this server at the provider'),
  has_client_secret: z.boolean().describe('True if a secret of the client is stored'),
  scopes: z.string().describe('Scopes to ask for, separated by blanks'),
  role_claim: z.string().describe('Claim with the groups of the person'),
  role_map: z.array(RoleOfGroup).describe('Roles by group'),
  domains: z
    .array(
      z.object({
        domain: z.string().describe('Name of the domain'),
        verified: z
          .boolean()
          .describe('True if the TXT record of the domain named this organization'),
      }),
    )
    .describe('Domains of the addresses that the provider may vouch for'),
  redirect_uri: z.string().describe('Redirect URI to register at the provider'),
  created_at: Timestamp,
  updated_at: Timestamp,
  updated_by: z.string().describe('Key or person that stored it last'),
  ledger: Receipt.optional(),
})
export type LoginProvider = z.infer<typeof LoginProvider>

export const loginProvider = {
  getLoginProvider: endpoint('GET /v1/login-provider', {
    plan: 'team',
    summary: 'Get the OpenID provider of the organization',
    text: 'Returns the OpenID provider that signs the people of the organization in, without the secret of the client.',
    problems: ['login_provider_not_found'],
    ok: LoginProvider,
  }),
  setLoginProvider: endpoint('PUT /v1/login-provider', {
    plan: 'team',
    viaWriter: true,
    summary: 'Set the OpenID provider that signs the people of the organization in',
    text: 'Sets the OpenID provider of the organization. From then on, its people sign in with this provider only. The server reads the metadata of the issuer and the TXT records of the domains before it stores them. With another issuer, people are found by their verified address at their next sign-in, and the sessions of all other people end.',
    body: LoginProviderInput,
    replaces: true,
    ok: LoginProvider,
  }),
  removeLoginProvider: endpoint('DELETE /v1/login-provider', {
    plan: 'team',
    viaWriter: true,
    summary: 'Remove the OpenID provider of the organization',
    text: 'Removes the OpenID provider of the organization and ends the sessions of all other people. People sign in with the provider of the server, if it has one.',
    problems: ['login_provider_not_found'],
  }),
}
