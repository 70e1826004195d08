import { EXCHANGEABLE, TOKEN_EXCHANGE } from '@remit/contract'
import type { AuthorizationServer } from '@remit/contract'
import { TOKEN_PATH } from '../issuers/routes.ts'

const LOCAL = /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/
const WITH_SECRET = ['client_secret_basic', 'client_secret_post'] as const

/**
 * The issuer identifier of the server (RFC 8414 §2): the base URL, over https. Loopback may do without
 * both; any other `Host` is the client's word, and becomes no identifier: null.
 */
export function serverIssuer(baseUrl: string | undefined, asked: string): string | null {
  const url = new URL(baseUrl ?? asked)
  const isLocal = LOCAL.test(url.hostname)
  if (!isLocal && (baseUrl === undefined || url.protocol !== 'https:')) return null
  return url.origin + (baseUrl === undefined ? '' : url.pathname.replace(/\/+$/, ''))
}

/** `keyless`: an organization takes tokens without an ingest key. */
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
