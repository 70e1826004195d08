import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import type { JWK } from 'oidc-provider'
import * as client from 'openid-client'
import { vi } from 'vitest'

export const JWKS_PATH = '/jwks'
export const DISCOVERY_PATH = '/.well-known/openid-configuration'

type Fault = (request: IncomingMessage, response: ServerResponse) => void

/** A real OpenID provider on loopback, whose keys can change and whose answers can be bad. */
export interface IssuerServer {
  readonly issuer: string
  /** A signed access token by client credentials, over HTTP. */
  token(): Promise<string>
  /** Signs with a new key; the old one stays in the set, or not. */
  rotate(options: { readonly overlap: boolean }): void
  /** Fails requests for a path until reset with `null`. */
  fault(path: string, fault: Fault | null): void
  /** The number of requests for a path. */
  hits(path: string): number
  close(): Promise<void>
}

/** Longer than keys are kept, so that a test can outlast them. */
const TOKEN_SECONDS = 7_200

let count = 0

function createSigningKey(): JWK {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = privateKey.export({ format: 'jwk' })
  return { ...jwk, kty: 'EC', kid: `key-${++count}`, alg: 'ES256', use: 'sig' }
}

export async function startIssuer(
  audience: string,
  claims: Readonly<Record<string, string>>,
): Promise<IssuerServer> {
  const faults = new Map<string, Fault>()
  const hits = new Map<string, number>()
  let handle: RequestListener = () => undefined
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    hits.set(path, (hits.get(path) ?? 0) + 1)
    const fault = faults.get(path)
    if (fault) fault(request, response)
    else handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let keys = [createSigningKey()]
  const renew = () => {
    handle = providerOf(issuer, audience, claims, keys)
  }
  renew()
  const config = await client.discovery(
    new URL(issuer),
    'ci',
    'secret-of-the-ci',
    client.ClientSecretPost('secret-of-the-ci'),
    // eslint-disable-next-line typescript/no-deprecated -- the mark is a warning; this is loopback
    { execute: [client.allowInsecureRequests] },
  )
  return {
    issuer,
    token: async () => (await client.clientCredentialsGrant(config)).access_token,
    rotate({ overlap }) {
      keys = [createSigningKey(), ...(overlap ? keys : [])]
      renew()
    },
    fault(path, fault) {
      if (fault) faults.set(path, fault)
      else faults.delete(path)
    },
    hits: (path) => hits.get(path) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function providerOf(
  issuer: string,
  audience: string,
  claims: Readonly<Record<string, string>>,
  keys: readonly JWK[],
): RequestListener {
  // It warns of what is meant here: plain HTTP, and cookies without keys.
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'ci',
        client_secret: 'secret-of-the-ci',
        grant_types: ['client_credentials'],
        id_token_signed_response_alg: 'ES256',
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [...keys] },
    ttl: { ClientCredentials: TOKEN_SECONDS },
    extraTokenClaims: () => ({ ...claims }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: TOKEN_SECONDS,
          jwt: { sign: { alg: 'ES256', kid: keys[0]?.kid } },
        }),
      },
    },
  })
  warn.mockRestore()
  const handle = provider.callback()
  return (request, response) => void handle(request, response)
}
