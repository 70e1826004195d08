import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import type { JWK } from 'oidc-provider'
import { vi } from 'vitest'

export const BASE = 'https://remit.test'
export const CLIENT = { clientId: 'remit', clientSecret: 'secret-of-remit' } as const

type Claims = Readonly<Record<string, unknown>>

/** A real OpenID provider on loopback at which somebody has an account. */
export interface LoginProvider {
  readonly issuer: string
  /** The subject that the next sign-in is of, and the claims of all. */
  subject: string
  readonly accounts: Map<string, Claims>
  /** Publishes other keys than those that sign. */
  foreignKeys: boolean
  close(): Promise<void>
}

function createKey(): JWK {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), kty: 'EC', kid: 'k', alg: 'ES256', use: 'sig' }
}

const publicPart = (key: JWK) => ({ ...key, d: undefined })

export async function startLoginProvider(): Promise<LoginProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const foreign = JSON.stringify({ keys: [publicPart(createKey())] })
  const self: LoginProvider = {
    issuer,
    subject: '',
    accounts: new Map(),
    foreignKeys: false,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  // It warns of what is meant here: plain HTTP, and cookies without keys.
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [`${BASE}/console/callback`],
        post_logout_redirect_uris: [`${BASE}/console`],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [createKey()] },
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, ...self.accounts.get(sub) }),
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
  warn.mockRestore()
  const handle = provider.callback()
  server.on('request', (request, response) => {
    if (self.foreignKeys && request.url === '/jwks')
      response.setHeader('content-type', 'application/json').end(foreign)
    else if (request.url?.startsWith('/interaction/'))
      void provider.interactionFinished(request, response, { login: { accountId: self.subject } })
    else void handle(request, response)
  })
  return self
}
