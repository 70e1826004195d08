import { parseJson } from '@remit/contract/json'
import { z } from 'zod'
import type { OidcSettings, UsageSinkSettings, JudgesSource } from '@remit/core/module'
import { ConfigError, ENVIRONMENT, isPostgres } from './environment.ts'
import { readSettingFile } from './read-file.ts'
import { distance } from 'fastest-levenshtein'

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

type Env = Readonly<Record<string, string | undefined>>

const names = (env: Env) => sortNames(env, Object.keys(ENVIRONMENT.shape))

/** Returns a warning for each unknown `REMIT_` name, which is ignored. */
export const ignoredNames = (env: Env): string[] =>
  names(env).unknown.map((name) => `${name} is ignored: unknown setting; see docs/configuration.md`)

type Settings = readonly (readonly [keyof Config, keyof Config])[]

/** Settings that need another one. */
const NEEDS: Settings = [
  ['REMIT_WITNESS', 'REMIT_CHECKPOINT_DIR'],
  ['REMIT_CHECKPOINT_BUCKET', 'REMIT_CHECKPOINT_DIR'],
  ['REMIT_LEDGER_KEY', 'REMIT_LEDGER_KEY_FILE'],
  ['REMIT_SIGNUP', 'REMIT_OIDC_ISSUER'],
]
/** Settings that need each other. */
const PAIRS: Settings = [
  ['REMIT_OIDC_ISSUER', 'REMIT_OIDC_CLIENT_ID'],
  ['REMIT_SMTP_URL', 'REMIT_SMTP_FROM'],
]
/** Settings that exclude each other. */
const ALTERNATIVES: Settings = [
  ['REMIT_SIGNUP', 'REMIT_OIDC_ROLE_MAP'],
  ['REMIT_SIGNUP', 'REMIT_OIDC_ORGANIZATION'],
]

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
  const isGiven = (name: keyof Config) => data[name] !== undefined && data[name] !== false
  for (const [name, other] of PAIRS)
    if (isGiven(name) !== isGiven(other))
      throw new ConfigError(`${name} and ${other} must be set together`)
  for (const [name, needed] of NEEDS)
    if (isGiven(name) && !isGiven(needed))
      throw new ConfigError(`${name} must be set together with ${needed}`)
  for (const [name, other] of ALTERNATIVES)
    if (isGiven(name) && isGiven(other))
      throw new ConfigError(`${name} must not be set together with ${other}`)
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

const Customers = z.record(z.string(), z.string().min(1))

/** Returns the billing system of the settings; undefined without one. Throws `ConfigError`. */
export function usageSinkSettings(config: Config): UsageSinkSettings | undefined {
  const { REMIT_USAGE_SINK: type, REMIT_USAGE_SINK_URL: url } = config
  if (type === undefined) return undefined
  if (url === undefined)
    throw new ConfigError('REMIT_USAGE_SINK_URL must be set with REMIT_USAGE_SINK')
  const customers = customersIn(config.REMIT_USAGE_CUSTOMERS_FILE)
  if (type === 'stripe' && customers === null)
    throw new ConfigError('REMIT_USAGE_CUSTOMERS_FILE must be set with REMIT_USAGE_SINK=stripe')
  const keyFile = config.REMIT_USAGE_SINK_KEY_FILE
  return {
    type,
    url,
    key:
      keyFile === undefined ? null : readSettingFile('REMIT_USAGE_SINK_KEY_FILE', keyFile).trim(),
    customers,
    everyMs: config.REMIT_USAGE_INTERVAL_MS,
    allowLoopback: config.REMIT_ALLOW_LOOPBACK_TARGETS,
  }
}

function customersIn(path: string | undefined): ReadonlyMap<string, string> | null {
  if (path === undefined) return null
  const { data } = Customers.safeParse(
    parseJson(readSettingFile('REMIT_USAGE_CUSTOMERS_FILE', path)),
  )
  if (data) return new Map(Object.entries(data))
  throw new ConfigError(
    'REMIT_USAGE_CUSTOMERS_FILE must be a JSON object: customer ids by id of the organization',
  )
}

/**
 * Reads `REMIT_JUDGES_FILE` for modules. Throws `ConfigError` if reading fails; the module
 * validates the content.
 */
export function readJudgesFile(
  { REMIT_JUDGES_FILE: path }: Config,
  env: Readonly<Record<string, string | undefined>>,
): JudgesSource | undefined {
  if (path === undefined) return undefined
  return { text: readSettingFile('REMIT_JUDGES_FILE', path), variable: (name) => env[name] }
}

/** Names for clients, tests, deployments and the documentation, which the server ignores. */
const FOREIGN =
  /^REMIT_(KEY|API_KEY|OMIT_KEY|URL|CREDENTIAL|IMAGE|WEBHOOK_SECRET|NIGHTLY|TEST_\w*)$/

/**
 * Variables that Kubernetes sets for each Service of the namespace; for a Service whose name starts
 * with `remit`, they start with `REMIT_`
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const SERVICE_LINK = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//

/** The names of an environment, classified for the server. */
interface EnvironmentNames {
  /** Values of the server's settings, by name. */
  readonly given: Readonly<Record<string, string>>
  /** Probable misspellings, each with the setting. */
  readonly nearMisses: readonly (readonly [name: string, setting: string])[]
  /** Other names that start with `REMIT_`. */
  readonly unknown: readonly string[]
}

/** Classifies the `REMIT_` names of an environment; an empty value counts as missing. */
export function sortNames(
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): EnvironmentNames {
  const given: Record<string, string> = {}
  const nearMisses: [string, string][] = []
  const unknown: string[] = []
  for (const [name, value = ''] of Object.entries(env)) {
    if (!name.startsWith('REMIT_') || value === '') continue
    if (FOREIGN.test(name) || isServiceLink(name, value)) continue
    const nearest = nearestTo(name, settings)
    if (settings.includes(name)) given[name] = value
    else if (nearest !== undefined) nearMisses.push([name, nearest])
    else unknown.push(name)
  }
  return { given, nearMisses, unknown }
}

const isServiceLink = (name: string, value: string): boolean =>
  SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value))

/**
 * Returns the setting that a name probably means: one without its last words (`REMIT_DATABASE`), or else
 * one that differs in a few letters.
 */
function nearestTo(name: string, settings: readonly string[]): string | undefined {
  const letters = (setting: string): number =>
    setting.startsWith(`${name}_`) ? 0 : distance(name, setting)
  const [nearest = ''] = settings.toSorted((a, b) => letters(a) - letters(b))
  return letters(nearest) <= Math.min(3, (name.length - 6) / 2) ? nearest : undefined
}
