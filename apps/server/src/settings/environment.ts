import { PersonRole } from '@remit/contract'
import { parseKey } from '@remit/core/keys'
import { isOrganizationName, ORGANIZATION_NAME_RULE } from '@remit/core/orgs'
import { FAIL_CLOSED } from '@remit/core/server'
import { z } from 'zod'
import { KEY_REFERENCE_RULE, parseKeyReference } from '@remit/core/kms'

/** An invalid setting; the message names the variable and the accepted values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** `0` or `1`; default `0`. */
const flag = z
  .enum(['0', '1'], { error: 'must be 0 or 1' })
  .default('0')
  .transform((value) => value === '1')

/** A text that is not empty. */
const TEXT = z.string().min(1)

/** A whole number from `min` to `max`. */
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`)

/** Requests refuse a URL with a password and quote it in their error, which would be logged. */
const HTTP_URL = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL', abort: true })
  .refine((text) => {
    const { username, password } = new URL(text)
    return username + password === ''
  }, 'must be a URL without user name and password')

const KEY_REFERENCE = z
  .string()
  .refine((text) => parseKeyReference(text) !== null, `must be ${KEY_REFERENCE_RULE}`)

/** Settings of keys in a key management service, and of the object store for checkpoints. */
const keyServiceFields = {
  REMIT_LEDGER_KEY: KEY_REFERENCE.optional().describe(
    'Key of AWS KMS or Vault that decrypts `REMIT_LEDGER_KEY_FILE` at the start; see [keys.md](keys.md)',
  ),
  REMIT_LEDGER_KEY_ENDPOINT: HTTP_URL.optional().describe(
    'Address of that service; default: that of AWS, or `VAULT_ADDR`',
  ),
  REMIT_WITNESS: KEY_REFERENCE.optional().describe(
    'Key of AWS KMS or Vault that also signs the checkpoints of `REMIT_CHECKPOINT_DIR`; see [keys.md](keys.md)',
  ),
  REMIT_WITNESS_ENDPOINT: HTTP_URL.optional().describe(
    'Address of that service; default: that of AWS, or `VAULT_ADDR`',
  ),
  REMIT_WITNESS_INTERVAL_MS: whole(1_000, 86_400_000)
    .default(60_000)
    .describe('Milliseconds between two checkpoints with a witness'),
  REMIT_CHECKPOINT_BUCKET: z
    .url({ protocol: /^https$/, error: 'must be an https URL' })
    .refine(
      (url) => /^\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/|$)/.test(new URL(url).pathname),
      'must be https://endpoint/bucket or https://endpoint/bucket/prefix',
    )
    .optional()
    .describe(
      'Bucket for copies of the checkpoints of `REMIT_CHECKPOINT_DIR`, as `https://endpoint/bucket/prefix`; see [keys.md](keys.md)',
    ),
  REMIT_CHECKPOINT_LOCK_DAYS: whole(0, 36_500)
    .default(0)
    .describe('Days for which the object lock keeps a copy; 0: as the bucket does by default'),
}

/** Every variable of the server; a test compares `docs/configuration.md` with this table. */
export const ENVIRONMENT = z.object({
  REMIT_DATABASE_URL: z
    .string()
    .refine(isDatabaseUrl, 'must be sqlite:<path> or postgres://…')
    .default('sqlite:./data/remit.db')
    .describe('Database URL: `sqlite:<path>` or `postgres://user:password@host/database`'),
  REMIT_DATABASE_DIRECT_URL: z
    .string()
    .refine(
      (value) => isPostgres(value) && isDatabaseUrl(value),
      'must be postgres://…, a direct connection to the same database',
    )
    .optional()
    .describe(
      'Direct connection to the same PostgreSQL if `REMIT_DATABASE_URL` uses a pooler; for migrations and `LISTEN`',
    ),
  REMIT_DATABASE_NODES: flag.describe(
    '`1`: decisions connect to the node of a Citus cluster that has their organization; see [scale.md](scale.md#connections-to-the-workers)',
  ),
  REMIT_MIGRATE: z
    .enum(['auto', 'check', 'off'], { error: 'must be auto, check or off' })
    .default('auto')
    .describe(
      'Pending migrations at the start: `auto` runs them, `check` waits for them, `off` ignores them; see [upgrades.md](upgrades.md)',
    ),
  REMIT_HOST: TEXT.default('127.0.0.1').describe(
    'Address to listen on; `0.0.0.0` for all interfaces',
  ),
  REMIT_PORT: whole(0, 65535).default(8080).describe('Port to listen on; 0 selects a free port'),
  REMIT_KEEP_ALIVE_SECONDS: whole(1, 86_400)
    .default(620)
    .describe(
      'Seconds after which an unused connection ends; longer than the idle time of the load balancer',
    ),
  REMIT_METRICS_PORT: whole(0, 65535)
    .optional()
    .describe('Serves `/metrics` on this port instead of `REMIT_PORT`'),
  REMIT_LICENSE_KEY: TEXT.optional().describe('License of the enterprise edition, a signed JWT'),
  REMIT_EDITION: z
    .enum(['community', 'enterprise'], { error: 'must be community or enterprise' })
    .optional()
    .describe(
      '`enterprise` refuses to start as the community edition; `community` loads no commercial module; see [editions.md](editions.md#the-license)',
    ),
  REMIT_EVALUATION: flag.describe(
    '`1` loads every module without a license, for development and evaluation',
  ),
  REMIT_BOOTSTRAP_ORG: z
    .string()
    .refine(isOrganizationName, `must be ${ORGANIZATION_NAME_RULE}`)
    .optional()
    .describe('Name of an organization to create on the first start'),
  REMIT_BOOTSTRAP_KEY: z
    .string()
    .refine((text) => parseKey(text) !== null, 'must be a key from `remit key generate`')
    .optional()
    .describe('Admin key of that organization; default: a generated key, printed once'),
  REMIT_BASE_URL: HTTP_URL.optional().describe(
    'Public base URL of the server; part of the ledger’s origin and of the AuthZEN metadata',
  ),
  REMIT_DOCS_URL: HTTP_URL.optional().describe(
    'Address of the documentation’s site, which `pnpm run docs` builds; the API reference at `/docs` links to it',
  ),
  REMIT_CONSOLE_KEY_LOGIN: z
    .enum(['0', '1'], { error: 'must be 0 or 1' })
    .default('1')
    .transform((value) => value === '1')
    .describe('`0` refuses sign-in to the console with a key; see [console.md](console.md#login)'),
  REMIT_OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe(
      'Identity provider that signs people in to the console; see [console.md](console.md#single-sign-on)',
    ),
  REMIT_OIDC_PRIVATE_NETWORK: flag.describe(
    '`1`: the identity provider may have a private address and any port; https is still required',
  ),
  REMIT_OIDC_CLIENT_ID: TEXT.optional().describe('Id of this server at the provider'),
  REMIT_OIDC_CLIENT_SECRET_FILE: TEXT.optional().describe(
    'File with the client secret; default: a public client, with PKCE alone',
  ),
  REMIT_OIDC_SCOPES: z
    .string()
    .regex(/^openid( [!-~]+)*$/, 'must be scopes separated by blanks that begin with openid')
    .default('openid profile email')
    .describe('Scopes to request'),
  REMIT_OIDC_ROLE_CLAIM: TEXT.default('groups').describe('Claim with the groups of a person'),
  REMIT_OIDC_ROLE_MAP: z
    .string()
    .transform(roleMapOf)
    .refine(
      (map) => map !== null,
      'must be group=role, separated by commas; the roles are admin, approver and read',
    )
    .optional()
    .describe('Roles by group, such as `remit-admins=admin,staff=read`; default: by invitation'),
  REMIT_OIDC_ORGANIZATION: TEXT.optional().describe(
    'Organization of everybody who signs in; default: the one that invited the person',
  ),
  REMIT_SIGNUP: flag.describe(
    '`1`: people whom no organization knows may create one on the plan `free`; see [hosted.md](hosted.md#sign-up)',
  ),
  REMIT_SIGNUP_PER_HOUR: whole(1, 100_000)
    .default(60)
    .describe('Organizations that sign-ups may create in an hour, in each process'),
  REMIT_OPERATOR_KEYS_FILE: TEXT.optional().describe(
    'File with the names and hashes of operator keys, one per line; turns on the [operator API](operator-api.md)',
  ),
  REMIT_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info')
    .describe('Minimum log level'),
  REMIT_RATE_LIMIT: whole(0, 1_000_000)
    .default(1000)
    .describe('Requests per second per key; 0 for no limit'),
  REMIT_FAILED_KEY_LIMIT: whole(0, 1_000_000)
    .default(60)
    .describe(
      'Invalid keys per minute from one address before responses are 429; 0 for no limit; see [Reverse proxies](#reverse-proxies)',
    ),
  REMIT_CORS_ORIGINS: z
    .string()
    .transform((text) => text.split(',').map((origin) => origin.trim()))
    .refine(
      (origins) => origins.every(isOrigin),
      'must be origins such as https://app.example.org, separated by commas, without a path or *',
    )
    .optional()
    .describe('Allowed CORS origins, separated by commas'),
  REMIT_LEDGER_KEY_FILE: TEXT.optional().describe(
    'PEM file of the Ed25519 key that signs checkpoints; keep it outside the database',
  ),
  REMIT_SECRETS_KEY_FILE: TEXT.optional().describe(
    'File with keys that encrypt stored secrets, 32 bytes in base64 per line; default: in the folder of the ledger key',
  ),
  ...keyServiceFields,
  REMIT_CHECKPOINT_DIR: TEXT.optional().describe(
    'Folder for copies of the signed checkpoints of every ledger; see ledger-verification.md',
  ),
  REMIT_SPEND_URL: HTTP_URL.optional().describe(
    'Source of measured spend instead of the ledger’s totals: `GET ?org_id=&agent_id=&window=` returns `{"usd": n}`',
  ),
  REMIT_SPEND_DEADLINE_MS: whole(1, 10_000)
    .default(250)
    .describe('Timeout of the spend source in milliseconds'),
  REMIT_USAGE_SINK: z
    .enum(['stripe', 'cloudevents'], { error: 'must be stripe or cloudevents' })
    .optional()
    .describe('Billing system that receives usage; see [hosted.md](hosted.md#usage)'),
  REMIT_USAGE_SINK_URL: HTTP_URL.optional().describe(
    'Address of the billing system, which takes one event per request',
  ),
  REMIT_USAGE_SINK_KEY_FILE: TEXT.optional().describe(
    'File with the bearer token for that address',
  ),
  REMIT_USAGE_CUSTOMERS_FILE: TEXT.optional().describe(
    'JSON file with customer ids by id of the organization; others are not sent. Required for `stripe`',
  ),
  REMIT_USAGE_INTERVAL_MS: whole(1_000, 86_400_000)
    .default(60_000)
    .describe('Milliseconds between two looks for usage to count and send'),
  REMIT_JUDGES_FILE: TEXT.optional().describe(
    'JSON file with the models for `llm_as_judge`. By default, the cost of the calls is unlimited; see judge.md',
  ),
  REMIT_CREDENTIAL_PEPPER_FILE: TEXT.optional().describe(
    'File with the pepper of agent credential hashes, 32 bytes or more in base64',
  ),
  REMIT_GUARD_MODEL_URL: HTTP_URL.optional().describe(
    'URL of an external guard model: `POST {"texts": […]}` returns `{"scores": […]}`; see guard.md',
  ),
  REMIT_GUARD_MODEL_DEADLINE_MS: whole(1, 10_000)
    .default(500)
    .describe('Timeout of the external guard model in milliseconds'),
  REMIT_GUARD_MODEL_FAIL_CLOSED: z
    .enum(FAIL_CLOSED, { error: 'must be none, documents or all' })
    .default('documents')
    .describe(
      'Texts to block while that model is unavailable: `none`, `documents` (and tool output) or `all`',
    ),
  REMIT_SMTP_URL: z
    .string()
    .refine(isSmtpUrl, 'must be smtp://… or smtps://…, with a host and without a path')
    .optional()
    .describe(
      'Mail server for [messages to approvers](webhooks.md#e-mail): `smtps://user:password@host:465`, or `smtp://…` with STARTTLS, which is required except on this machine',
    ),
  REMIT_SMTP_FROM: z
    .email({ error: 'must be an e-mail address' })
    .optional()
    .describe('Sender of these messages; required with `REMIT_SMTP_URL`'),
  REMIT_SINK_PRIVATE_NETWORK: flag.describe(
    '`1`: sinks may have private addresses; TLS is still required; see [sinks.md](sinks.md)',
  ),
  REMIT_ALLOW_LOOPBACK_TARGETS: flag.describe(
    '`1` allows issuers, webhooks and sinks on loopback addresses; development and tests only',
  ),
})

function isSmtpUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return false
  try {
    decodeURIComponent(url.username + url.password)
  } catch {
    return false
  }
  return /^\/?$/.test(url.pathname) && url.search === '' && url.hash === ''
}

function roleMapOf(text: string): ReadonlyMap<string, PersonRole> | null {
  const pairs = text.split(',').map((pair) => {
    const at = pair.lastIndexOf('=')
    return [pair.slice(0, at).trim(), PersonRole.safeParse(pair.slice(at + 1).trim())] as const
  })
  const map = new Map<string, PersonRole>()
  for (const [group, role] of pairs) {
    if (group === '' || !role.success) return null
    map.set(group, role.data)
  }
  return map
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text
}

/** Returns true for a PostgreSQL URL; every other URL is SQLite. */
export const isPostgres = (url: string): boolean => !url.startsWith('sqlite:')

function isDatabaseUrl(value: string): boolean {
  if (/^sqlite:./s.test(value)) return true
  if (!/^postgres(ql)?:\/\/./.test(value)) return false
  try {
    // The driver decodes user and password, and its error contains the whole URL.
    const { username, password } = new URL(value)
    return decodeURIComponent(username + password) !== null
  } catch {
    return false
  }
}
