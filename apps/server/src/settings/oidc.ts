import type { OidcSettings } from '@remit/core/module'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'
import { readSettingFile } from './read-file.ts'

/** Returns the identity provider of the settings; undefined without one. Throws `ConfigError`. */
export function oidcSettings(config: Config): OidcSettings | undefined {
  const { REMIT_OIDC_ISSUER: issuer, REMIT_OIDC_CLIENT_ID: clientId } = config
  if (issuer === undefined || clientId === undefined) return undefined
  return {
    issuer,
    clientId,
    clientSecret: secretIn(config.REMIT_OIDC_CLIENT_SECRET_FILE),
    scopes: config.REMIT_OIDC_SCOPES,
    roleClaim: config.REMIT_OIDC_ROLE_CLAIM,
    roleMap: config.REMIT_OIDC_ROLE_MAP ?? null,
    organization: config.REMIT_OIDC_ORGANIZATION ?? null,
    allowLoopback: config.REMIT_ALLOW_LOOPBACK_TARGETS,
    allowPrivate: config.REMIT_OIDC_PRIVATE_NETWORK,
  }
}

function secretIn(path: string | undefined): string | null {
  if (path === undefined) return null
  const text = readSettingFile('REMIT_OIDC_CLIENT_SECRET_FILE', path).trim()
  if (text === '') throw new ConfigError('REMIT_OIDC_CLIENT_SECRET_FILE is empty')
  return text
}
