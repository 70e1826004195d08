import type { Unauthorized } from './caller.ts'

/** Path below which the metadata of each resource is (RFC 9728 §3.1). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Protected resource metadata (RFC 9728 §2). */
export const metadataOf = (resource: string, authorizationServers: readonly string[]) => ({
  resource,
  authorization_servers: authorizationServers,
  bearer_methods_supported: ['header'],
})

/** The value of `WWW-Authenticate` for a refused request (RFC 6750 §3, RFC 9728 §5.1). */
export function challengeOf({ code, scope }: Unauthorized, metadataUrl: string | null): string {
  const parameters = [
    'realm="remit-mcp"',
    ...(code === undefined ? [] : [`error="${code}"`]),
    ...(scope === undefined ? [] : [`scope="${scope}"`]),
    ...(metadataUrl === null ? [] : [`resource_metadata="${metadataUrl}"`]),
  ]
  return `Bearer ${parameters.join(', ')}`
}
