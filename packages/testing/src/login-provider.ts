import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { JWK, Provider } from 'oidc-provider'
import type { OidcSettings } from '@remit/core/module'
import { listening } from './on-demand.ts'

/** The client that Remit is at the provider. */
export const LOGIN_CLIENT = { clientId: 'remit', clientSecret: 'secret-of-remit' } as const

/** The settings of a server whose people sign in at the provider. */
export const oidcSettings = (
  { issuer }: Pick<LoginProvider, 'issuer'>,
  more: Partial<OidcSettings> = {},
): OidcSettings => ({
  issuer,
  ...LOGIN_CLIENT,
  scopes: 'openid profile email',
  roleClaim: 'groups',
  roleMap: null,
  organization: null,
  allowLoopback: true,
  allowPrivate: false,
  ...more,
})

type Claims = Readonly<Record<string, unknown>>

/** A real OpenID provider on loopback at which somebody has an account. */
export interface LoginProvider {
  readonly issuer: string
  /** The subject that the next sign-in is of, and the claims of all. */
  subject: string
  readonly accounts: Map<string, Claims>
  /** Publishes other keys than those that sign. */
  foreignKeys: boolean
  /**
   * Replaces the servers that people may return to, by their base URLs; with organizations, to their
   * pages too.
   */
  register(bases: readonly string[], organizations?: readonly string[]): Promise<void>
  close(): Promise<void>
}

function createKey(): JWK {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), kty: 'EC', kid: 'k', alg: 'ES256', use: 'sig' }
}

const publicPart = (key: JWK) => ({ ...key, d: undefined })

/** Starts a provider; it asks nobody for a password and signs in `subject`. */
export async function startLoginProvider(bases: readonly string[] = []): Promise<LoginProvider> {
  // A connection that closes after five idle seconds fails a request of a busy machine.
  const server = createServer({ keepAliveTimeout: 600_000 })
  const issuer = `http://127.0.0.1:${await listening(server)}`
  const key = createKey()
  const foreign = JSON.stringify({ keys: [publicPart(createKey())] })
  const accounts = new Map<string, Claims>()
  const create = (known: readonly string[], organizations: readonly string[] = []) =>
    createProvider(issuer, key, { bases: known, organizations }, accounts)
  let provider = await create(bases)
  const self: LoginProvider = {
    issuer,
    subject: '',
    accounts,
    foreignKeys: false,
    register: async (known, organizations) => {
      provider = await create(known, organizations)
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  server.on('request', (request, response) => {
    if (self.foreignKeys && request.url === '/jwks')
      response.setHeader('content-type', 'application/json').end(foreign)
    else if (request.url?.startsWith('/interaction/'))
      void provider.interactionFinished(request, response, { login: { accountId: self.subject } })
    else void provider.callback()(request, response)
  })
  return self
}

async function createProvider(
  issuer: string,
  key: JWK,
  { bases, organizations }: Record<'bases' | 'organizations', readonly string[]>,
  accounts: ReadonlyMap<string, Claims>,
): Promise<Provider> {
  const oidc = await import('oidc-provider')
  const output = globalThis.console
  const warn = output.warn.bind(output)
  // It warns of what is meant here: plain HTTP, and cookies without keys.
  output.warn = () => undefined
  try {
    const provider: Provider = new oidc.Provider(issuer, {
      clients: [
        {
          client_id: LOGIN_CLIENT.clientId,
          client_secret: LOGIN_CLIENT.clientSecret,
          redirect_uris: bases.flatMap((base) => [
            `${base}/console/callback`,
            ...organizations.map((id) => `${base}/console/callback/${id}`),
          ]),
          post_logout_redirect_uris: bases.map((base) => `${base}/console`),
          id_token_signed_response_alg: 'ES256',
        },
      ],
      jwks: { keys: [key] },
      claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
      ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, sub) => ({
        accountId: sub,
        claims: () => ({ sub, ...accounts.get(sub) }),
      }),
      async loadExistingGrant(ctx) {
        const grant = new provider.Grant({
          clientId: ctx.oidc.client?.clientId ?? '',
          accountId: ctx.oidc.session?.accountId ?? '',
        })
        grant.addOIDCScope('openid email profile')
        await grant.save()
        return grant
      },
    })
    return provider
  } finally {
    output.warn = warn
  }
}
