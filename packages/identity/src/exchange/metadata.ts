import { EXCHANGEABLE, TOKEN_EXCHANGE } from '@remit/contract'
import type { AuthorizationServer } from '@remit/contract'
import { TOKEN_PATH } from '../issuers/routes.ts'

const LOCAL = /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/
const WITH_SECRET = ['client_secret_basic', 'client_secret_post'] as const

/**
 * The server's issuer identifier (RFC 8414 §2): the https base URL. On loopback, the `Host` header
 * suffices; elsewhere it is controlled by the client and gives null.
 */
export function serverIssuer(baseUrl: string | undefined, asked: string): string | null {
  const url = new URL(baseUrl ?? asked)
  const isLocal = LOCAL.test(url.hostname)
  if (!isLocal && (baseUrl === undefined || url.protocol !== 'https:')) return null
  return url.origin + (baseUrl === undefined ? '' : url.pathname.replace(/\/+$/, ''))
}

/** `keyless`: some organization accepts tokens without an ingest key. */
export const metadataOf = (issuer: string, keyless: boolean): AuthorizationServer => ({
  issuer,
  token_endpoint: `${issuer}${TOKEN_PATH}`,
  token_endpoint_auth_methods_supported: [...WITH_SECRET, ...(keyless ? (['none'] as const) : [])],
  grant_types_supported: [TOKEN_EXCHANGE],
  response_types_supported: [],
  scopes_supported: [...EXCHANGEABLE],
  introspection_endpoint: `${issuer}/v1/identity/introspect`,
  introspection_endpoint_auth_methods_supported: [...WITH_SECRET],
  revocation_endpoint: `${issuer}/v1/identity/revoke`,
  revocation_endpoint_auth_methods_supported: [...WITH_SECRET],
})
