import type { z } from 'zod'
import { sortNames } from './environment-names.ts'
import { ENVIRONMENT, isPostgres } from './environment.ts'

/** Variables whose value never appears in a message. */
const SECRET: ReadonlySet<string> = new Set([
  'REMIT_BOOTSTRAP_KEY',
  'REMIT_LICENSE_KEY',
  'REMIT_DATABASE_URL',
  'REMIT_DATABASE_DIRECT_URL',
  'REMIT_SMTP_URL',
  'REMIT_SPEND_URL',
  'REMIT_GUARD_MODEL_URL',
])

export type Config = z.infer<typeof ENVIRONMENT>

/** An invalid setting; the message names the variable and the accepted values. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

type Env = Readonly<Record<string, string | undefined>>

const names = (env: Env) => sortNames(env, Object.keys(ENVIRONMENT.shape))

/** Returns a warning for each unknown `REMIT_` name, which is ignored. */
export const ignoredNames = (env: Env): string[] =>
  names(env).unknown.map((name) => `${name} is ignored: unknown setting; see docs/configuration.md`)

/**
 * Parses the settings of an environment; an empty value counts as missing. Throws `ConfigError` for
 * every invalid value, and for probable misspellings of a setting.
 */
export function readConfig(env: Env): Config {
  const { given, nearMisses } = names(env)
  if (nearMisses.length > 0) {
    const lines = nearMisses.map(
      ([name, setting]) => `${name} is not a setting; did you mean ${setting}?`,
    )
    throw new ConfigError(lines.join('\n'))
  }
  const { data, error } = ENVIRONMENT.safeParse(given)
  if (error) throw new ConfigError(error.issues.map((issue) => complaint(issue, given)).join('\n'))
  if (data.REMIT_DATABASE_DIRECT_URL !== undefined && !isPostgres(data.REMIT_DATABASE_URL)) {
    throw new ConfigError(
      'REMIT_DATABASE_DIRECT_URL must not be set with SQLite: REMIT_DATABASE_URL is not postgres://…',
    )
  }
  if (data.REMIT_DATABASE_NODES && !isPostgres(data.REMIT_DATABASE_URL))
    throw new ConfigError(
      'REMIT_DATABASE_NODES must not be 1 with SQLite: REMIT_DATABASE_URL is not postgres://…',
    )
  if (data.REMIT_WITNESS !== undefined && data.REMIT_CHECKPOINT_DIR === undefined)
    throw new ConfigError('REMIT_WITNESS must be set together with REMIT_CHECKPOINT_DIR')
  if (data.REMIT_CHECKPOINT_BUCKET !== undefined && data.REMIT_CHECKPOINT_DIR === undefined)
    throw new ConfigError('REMIT_CHECKPOINT_BUCKET must be set together with REMIT_CHECKPOINT_DIR')
  if (data.REMIT_LEDGER_KEY !== undefined && data.REMIT_LEDGER_KEY_FILE === undefined)
    throw new ConfigError('REMIT_LEDGER_KEY must be set together with REMIT_LEDGER_KEY_FILE')
  const isPartial =
    (data.REMIT_OIDC_ISSUER === undefined) !== (data.REMIT_OIDC_CLIENT_ID === undefined)
  if (isPartial)
    throw new ConfigError('REMIT_OIDC_ISSUER and REMIT_OIDC_CLIENT_ID must be set together')
  if ((data.REMIT_SMTP_URL === undefined) !== (data.REMIT_SMTP_FROM === undefined))
    throw new ConfigError('REMIT_SMTP_URL and REMIT_SMTP_FROM must be set together')
  if (data.REMIT_SIGNUP && data.REMIT_OIDC_ISSUER === undefined)
    throw new ConfigError('REMIT_SIGNUP must be set together with REMIT_OIDC_ISSUER')
  if (data.REMIT_SIGNUP && data.REMIT_OIDC_ROLE_MAP !== undefined)
    throw new ConfigError('REMIT_SIGNUP must not be set together with REMIT_OIDC_ROLE_MAP')
  if (data.REMIT_SIGNUP && data.REMIT_OIDC_ORGANIZATION !== undefined)
    throw new ConfigError('REMIT_SIGNUP must not be set together with REMIT_OIDC_ORGANIZATION')
  if (data.REMIT_METRICS_PORT === data.REMIT_PORT && data.REMIT_PORT !== 0) {
    throw new ConfigError(
      `REMIT_METRICS_PORT must differ from REMIT_PORT; given: ${data.REMIT_PORT}`,
    )
  }
  return data
}

function complaint(
  { path, message }: z.core.$ZodIssue,
  given: Readonly<Record<string, string | undefined>>,
): string {
  const name = String(path[0])
  return `${name} ${message}; given: ${SECRET.has(name) ? '(not shown)' : JSON.stringify(given[name])}`
}
