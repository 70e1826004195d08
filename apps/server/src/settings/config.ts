import { FAIL_CLOSED, isOrganizationName, ORGANIZATION_NAME_RULE, parseKey } from '@remit/core'
import { z } from 'zod'
import { sortNames } from './environment-names.ts'

const flag = z
  .enum(['0', '1'], { error: 'must be 0 or 1' })
  .default('0')
  .transform((value) => value === '1')
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`)

const HTTP_URL = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

/** Variables whose value never appears in a message. */
const SECRET: ReadonlySet<string> = new Set([
  'REMIT_BOOTSTRAP_KEY',
  'REMIT_LICENSE_KEY',
  'REMIT_DATABASE_URL',
  'REMIT_DATABASE_DIRECT_URL',
  'REMIT_SPEND_URL',
  'REMIT_GUARD_MODEL_URL',
])

/** Every variable the server reads; `docs/configuration.md` is compared with this table by a test. */
export const ENVIRONMENT = z.object({
  REMIT_DATABASE_URL: z
    .string()
    .refine(isDatabaseUrl, 'must be sqlite:<path> or postgres://…')
    .default('sqlite:./data/remit.db')
    .describe(
      'Where everything is kept: `sqlite:<path>` or `postgres://user:password@host/database`',
    ),
  REMIT_DATABASE_DIRECT_URL: z
    .string()
    .refine(
      (value) => isPostgres(value) && isDatabaseUrl(value),
      'must be postgres://…, the same database without a pooler',
    )
    .optional()
    .describe(
      'The same PostgreSQL without the pooler that `REMIT_DATABASE_URL` leads through; for migrations and `LISTEN`',
    ),
  REMIT_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address to listen on; `0.0.0.0` for all'),
  REMIT_PORT: whole(0, 65535).default(8080).describe('Port to listen on; 0 takes a free one'),
  REMIT_METRICS_PORT: whole(0, 65535)
    .optional()
    .describe('Serves `/metrics` on this port and not on the other'),
  REMIT_LICENSE_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('Licence of the enterprise edition, a signed JWT'),
  REMIT_EVALUATION: flag.describe(
    '`1` loads every module without a licence, for development and evaluation',
  ),
  REMIT_BOOTSTRAP_ORG: z
    .string()
    .refine(isOrganizationName, `must be ${ORGANIZATION_NAME_RULE}`)
    .optional()
    .describe('Name of an organization to make on the first start'),
  REMIT_BOOTSTRAP_KEY: z
    .string()
    .refine((text) => parseKey(text) !== null, 'must be a key as `remit key generate` prints it')
    .optional()
    .describe('Admin key of that organization; without it one is made and printed once'),
  REMIT_BASE_URL: HTTP_URL.optional().describe(
    'Address under which clients reach the server; names the ledger’s origin and AuthZEN’s decision point',
  ),
  REMIT_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info')
    .describe('Least level that is logged'),
  REMIT_RATE_LIMIT: whole(0, 1_000_000)
    .default(1000)
    .describe('Requests a second per key; 0 for no limit'),
  REMIT_FAILED_KEY_LIMIT: whole(0, 1_000_000)
    .default(60)
    .describe('Wrong keys a minute from one address before they are answered 429; 0 for no limit'),
  REMIT_CORS_ORIGINS: z
    .string()
    .transform((text) => text.split(',').map((origin) => origin.trim()))
    .refine(
      (origins) => origins.every(isOrigin),
      'must be origins such as https://app.example.org, separated by commas, without a path or *',
    )
    .optional()
    .describe('Origins whose pages may call the API from a browser, separated by commas'),
  REMIT_LEDGER_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of the Ed25519 key that signs checkpoints; keep it outside the database'),
  REMIT_SECRETS_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Keys that encrypt stored secrets, 32 bytes each in base64, one a line; beside the ledger’s key unless set',
    ),
  REMIT_CHECKPOINT_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder outside the database where the signed checkpoints of every ledger are kept; see ledger-verification.md',
    ),
  REMIT_SPEND_URL: HTTP_URL.optional().describe(
    'Source of measured spend in place of the ledger’s totals: `GET ?org_id=&agent_id=&window=` answers `{"usd": n}`',
  ),
  REMIT_SPEND_DEADLINE_MS: whole(1, 10_000)
    .default(250)
    .describe('Milliseconds that the spend source has to answer before it counts as down'),
  REMIT_JUDGES_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('JSON file that names the models which `llm_as_judge` may ask; see judge.md'),
  REMIT_CREDENTIAL_PEPPER_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('Secret that goes into the hashes of agent credentials, 32 bytes or more in base64'),
  REMIT_GUARD_MODEL_URL: HTTP_URL.optional().describe(
    'A bigger model that the guard asks too: `POST {"texts": […]}` answers `{"scores": […]}`; see guard.md',
  ),
  REMIT_GUARD_MODEL_DEADLINE_MS: whole(1, 10_000)
    .default(500)
    .describe('Milliseconds that the guard’s model has to answer before it counts as down'),
  REMIT_GUARD_MODEL_FAIL_CLOSED: z
    .enum(FAIL_CLOSED, { error: 'must be none, documents or all' })
    .default('documents')
    .describe(
      'What is blocked while that model is down: `none`, `documents` (and what tools say) or `all`',
    ),
  REMIT_ALLOW_LOOPBACK_TARGETS: flag.describe(
    '`1` lets issuers and webhooks be on loopback; development and tests only',
  ),
})

export type Config = z.infer<typeof ENVIRONMENT>

/** A setting that cannot be used; the message names the variable and what is accepted. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

type Env = Readonly<Record<string, string | undefined>>

const names = (env: Env) => sortNames(env, Object.keys(ENVIRONMENT.shape))

/** One sentence for each `REMIT_` name that is ignored because it is no setting. */
export const ignoredNames = (env: Env): string[] =>
  names(env).unknown.map(
    (name) => `${name} is ignored: there is no such setting; see docs/configuration.md`,
  )

/**
 * The settings of an environment; an empty value counts as none. Throws `ConfigError` for every bad
 * value, and for names that are nearly those of a setting.
 */
export function readConfig(env: Env): Config {
  const { given, nearMisses } = names(env)
  if (nearMisses.length > 0) {
    const lines = nearMisses.map(
      ([name, setting]) => `${name}: there is no such setting; did you mean ${setting}?`,
    )
    throw new ConfigError(lines.join('\n'))
  }
  const { data, error } = ENVIRONMENT.safeParse(given)
  if (error) throw new ConfigError(error.issues.map((issue) => complaint(issue, given)).join('\n'))
  if (data.REMIT_DATABASE_DIRECT_URL !== undefined && !isPostgres(data.REMIT_DATABASE_URL)) {
    throw new ConfigError(
      'REMIT_DATABASE_DIRECT_URL must be left out with SQLite: REMIT_DATABASE_URL is not postgres://…',
    )
  }
  if (data.REMIT_METRICS_PORT === data.REMIT_PORT && data.REMIT_PORT !== 0) {
    throw new ConfigError(
      `REMIT_METRICS_PORT must be another port than REMIT_PORT; given: ${data.REMIT_PORT}`,
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

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text
}

/** True for a PostgreSQL URL; every other URL is SQLite. */
export const isPostgres = (url: string): boolean => !url.startsWith('sqlite:')

function isDatabaseUrl(value: string): boolean {
  if (/^sqlite:./s.test(value)) return true
  if (!/^postgres(ql)?:\/\/./.test(value)) return false
  try {
    // The driver decodes user and password, and throws the whole URL about when it cannot.
    const { username, password } = new URL(value)
    return decodeURIComponent(username + password) !== null
  } catch {
    return false
  }
}
