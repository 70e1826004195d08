import { EXCHANGEABLE, TOKEN_EXCHANGE } from '@remit/contract'
import type { AuthorizationServer } from '@remit/contract'
import { TOKEN_PATH } from '../issuers/routes.ts'

const WITH_SECRET = ['client_secret_basic', 'client_secret_post'] as const

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
