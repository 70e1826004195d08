import { readdirSync, readFileSync, statSync, realpathSync } from 'node:fs'
import { join, dirname, relative, resolve } from 'node:path'
import { pendingMigrations } from '@remit/core/db/open'
import type { Database, MigrationSet } from '@remit/core/db/open'
import type { OrganizationRow, CoreTables } from '@remit/core/db'
import { settingsOf } from '@remit/core/orgs/settings'
import { listOrganizations, OPEN_DEFAULTS } from '@remit/core/orgs'
import { LEAST_RETENTION_DAYS } from '@remit/contract'
import { sql } from 'kysely'
import { hasModules } from '../boot/modules.ts'
import { isPostgres } from '../settings/environment.ts'
import { checkLicense, expiryNotice } from '../settings/license.ts'
import { foreignLedgers, ledgerKeyFile, openLedgerKey } from '../settings/ledger-key.ts'
import { readPepperFile, openSecretsKeys, secretsKeyFile } from '../settings/secrets-key.ts'
import type { KeyObject } from 'node:crypto'
import type { Config } from '../settings/config.ts'

const HOUR_MS = 3_600_000

export const migrations: Check = async ({ db, migrations: sets }) => {
  const pending = await pendingMigrations(db, sets)
  return pending.length === 0
    ? ok('the tables are those of this version')
    : problem(`pending: ${listed(pending)}`, 'remit migrate (docs/upgrades.md)')
}

const organizationsOf = async ({ db }: CheckFacts): Promise<OrganizationRow[]> =>
  (await listOrganizations(db)).filter(
    (row) => row.deleted_at === null && row.suspended_at === null,
  )

/** A setting that must not be `allow`, in every organization that can have rules. */
const isDenied =
  (name: keyof typeof OPEN_DEFAULTS): Check =>
  async (facts) => {
    if (await isHosted(facts)) return ok('each customer of a hosted server decides')
    const all = (await organizationsOf(facts)).filter(({ plan }) => plan === 'enterprise')
    const open = all.filter((row) => settingsOf(row)[name] === 'allow').map((row) => row.name)
    return open.length === 0
      ? ok(`deny in ${all.length} organizations`)
      : warning(
          `allow in ${listed(open)}: ${OPEN_DEFAULTS[name]}`,
          `remit org set ${open.length === 1 ? (open[0] ?? '') : '<org>'} ${name}=deny, after rules allow what agents need`,
        )
  }

export const agentCredentials: Check = async (facts) => {
  if (await isHosted(facts)) return ok('each customer of a hosted server decides')
  const all = (await organizationsOf(facts)).filter(({ plan }) => plan === 'enterprise')
  const open = all.filter((row) => !settingsOf(row).require_agent_credentials)
  return open.length === 0
    ? ok(`required in ${all.length} organizations`)
    : warning(
        `not required in ${listed(open.map(({ name }) => name))}: a key may act for any agent`,
        `remit org set <org> require_agent_credentials=true, after each agent has a credential (docs/identity.md)`,
      )
}

export const defaultEffect = isDenied('default_effect')
export const unknownAgents = isDenied('unknown_agents')

async function isHosted({ config, licenseKey, now }: CheckFacts): Promise<boolean> {
  const { REMIT_LICENSE_KEY: token } = config
  const check = token === undefined ? null : await checkLicense(token, licenseKey, now())
  return check !== null && 'license' in check && check.license.hosted
}

export const retention: Check = async (facts) => {
  const short = (await organizationsOf(facts)).filter(
    (row) => settingsOf(row).retention_days < LEAST_RETENTION_DAYS,
  )
  return short.length === 0
    ? ok(`${LEAST_RETENTION_DAYS} days or more in every organization`)
    : warning(
        `less than ${LEAST_RETENTION_DAYS} days in ${listed(short.map(({ name }) => name))}`,
        'remit org set <org> retention_days=400 (docs/retention.md)',
      )
}

interface Manifest {
  readonly created_at: string
  readonly folder: string
}

/** The newest manifest of `remit backup` in the folder, or in the folders in it. */
function newestBackup(folder: string): Manifest | null {
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const found = [folder, ...below.map(({ name }) => join(folder, name))].flatMap((place) => {
    try {
      const text = readFileSync(join(place, 'manifest.json'), 'utf8')
      const { created_at } = JSON.parse(text) as Partial<Manifest>
      const isTime = typeof created_at === 'string' && !Number.isNaN(Date.parse(created_at))
      return isTime ? [{ created_at, folder: place }] : []
    } catch {
      return []
    }
  })
  return found.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))[0] ?? null
}

export const backup: Check = ({ backup: folder, now }) => {
  if (folder === undefined)
    return warning('not checked', 'run remit check --backup <folder of remit backup>')
  const todo = 'remit backup <folder>, every day (docs/backup.md)'
  const newest = newestBackup(folder)
  if (!newest) return problem(`${folder} has no manifest.json of remit backup`, todo)
  const hours = Math.floor((now() - Date.parse(newest.created_at)) / HOUR_MS)
  const message = `${newest.folder} is ${hours} hours old`
  if (hours < 25) return ok(message)
  return hours < 7 * 24 ? warning(message, todo) : problem(message, todo)
}

export const checkpoints: Check = async (facts) => {
  const { REMIT_CHECKPOINT_DIR: folder } = facts.config
  const todo = 'set REMIT_CHECKPOINT_DIR to a folder on another machine or volume (docs/keys.md)'
  if (folder === undefined)
    return warning(
      'none outside of the database: a ledger that is cut or rewritten looks valid',
      todo,
    )
  const missing: string[] = []
  const late: string[] = []
  for (const { id, name } of await organizationsOf(facts)) {
    const age =
      facts.now() -
      (statSync(join(folder, `${id}.txt`), { throwIfNoEntry: false })?.mtimeMs ?? -Infinity)
    if (age === Infinity) missing.push(name)
    else if (age > 24 * HOUR_MS) late.push(name)
  }
  const restart = 'see the log of the server: it writes them while it runs'
  if (missing.length > 0)
    return problem(`${folder} has no checkpoint of the ledgers of ${listed(missing)}`, restart)
  return late.length > 0
    ? warning(`no checkpoint within 24 hours of the ledgers of ${listed(late)}`, restart)
    : ok(folder)
}

export const witness: Check = ({ config }) => {
  const names = (['REMIT_WITNESS', 'REMIT_CHECKPOINT_BUCKET'] as const).filter(
    (name) => config[name] !== undefined,
  )
  return names.length > 0
    ? ok(names.join(' and '))
    : warning(
        'none: who controls this machine can rewrite the ledger together with its checkpoints',
        'set REMIT_WITNESS or REMIT_CHECKPOINT_BUCKET (docs/keys.md)',
      )
}

const TIMEOUT_MS = 5_000
const FEW_MS = 5_000
const MANY_MS = 60_000

interface Measured {
  readonly source: string
  /** Milliseconds by which the other clock is ahead. */
  readonly ahead: number
}

async function databaseClock({ db, config, now }: CheckFacts): Promise<Measured | null> {
  if (!isPostgres(config.REMIT_DATABASE_URL)) return null
  const started = now()
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db)
  return { source: 'the database', ahead: (rows[0]?.ms ?? started) - (started + now()) / 2 }
}

/** The clock in the header `Date`, which has whole seconds; null if the address does not answer. */
async function httpClock(url: string | undefined, { now }: CheckFacts): Promise<Measured | null> {
  if (url === undefined) return null
  const started = now()
  const date = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    .then(({ headers }) => Date.parse(headers.get('date') ?? ''))
    .catch(() => Number.NaN)
  if (Number.isNaN(date)) return null
  return { source: new URL(url).host, ahead: date + 500 - (started + now()) / 2 }
}

export const clock: Check = async (facts) => {
  const { REMIT_BASE_URL: base, REMIT_WITNESS_ENDPOINT: kms } = facts.config
  const measured = await Promise.all([
    databaseClock(facts),
    httpClock(base, facts),
    httpClock(kms, facts),
  ])
  const all = measured.filter((one) => one !== null)
  const [worst] = all.toSorted((a, b) => Math.abs(b.ahead) - Math.abs(a.ahead))
  const todo = 'synchronize the clocks with NTP (chrony, systemd-timesyncd)'
  if (!worst) return warning('not compared: no other clock answers', todo)
  const seconds = Math.round(Math.abs(worst.ahead) / 1000)
  const message = `${worst.source} is ${seconds} seconds ${worst.ahead > 0 ? 'ahead' : 'behind'}`
  if (Math.abs(worst.ahead) > MANY_MS) return problem(message, todo)
  if (Math.abs(worst.ahead) > FEW_MS) return warning(message, todo)
  return ok(`the same as ${all.map(({ source }) => source).join(' and ')}`)
}

const SAME_SETTINGS = 'run remit check with the settings and the user of the server'

/** The server answers, and in the mode that these settings say: else the other checks are not about it. */
export const server: Check = async ({ config }) => {
  const base = config.REMIT_BASE_URL?.replace(/\/$/, '') ?? `http://127.0.0.1:${config.REMIT_PORT}`
  const get = (path: string) =>
    fetch(base + path, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => null)
  const answer = await get('/ready')
  if (!answer)
    return warning(
      `${base}/ready does not answer from here`,
      `start the server, or ${SAME_SETTINGS}`,
    )
  if (!answer.ok)
    return problem(`${base}/ready answers ${answer.status}`, 'see the log of the server')
  const health = (await (await get('/health'))?.json().catch(() => null)) as Health | null
  if (health?.evaluation === true && !config.REMIT_EVALUATION)
    return problem(
      `${base} runs in evaluation mode, and these settings do not: the checks read other settings than the server`,
      SAME_SETTINGS,
    )
  return health?.edition === 'community' && hasModules() && config.REMIT_EDITION !== 'community'
    ? problem(`${base} runs as the community edition: agents get no decisions`, SAME_SETTINGS)
    : ok(`${base}/ready is ready`)
}

interface Health {
  readonly edition?: unknown
  readonly evaluation?: unknown
}

export const license: Check = async ({ config, licenseKey, now }) => {
  if (!hasModules()) return ok('community edition, which needs none')
  const { REMIT_LICENSE_KEY: token, REMIT_EVALUATION: isEvaluation } = config
  const renew = 'obtain a license and set REMIT_LICENSE_KEY (docs/editions.md)'
  const check = token === undefined ? null : await checkLicense(token, licenseKey, now())
  if (check === null || 'refused' in check) {
    const why = check ? check.refused : 'REMIT_LICENSE_KEY is not set'
    const effect = isEvaluation
      ? 'evaluation mode is not for production'
      : 'agents get no decisions'
    return problem(`${why}: ${effect}`, renew)
  }
  const { customer, expiresAt } = check.license
  const notice = expiryNotice(check.license, now())
  if (notice) return (notice.level === 'error' ? problem : warning)(notice.text, renew)
  return ok(`licensed to ${customer} until ${expiresAt}`)
}

export const evaluation: Check = ({ config }) => {
  if (config.REMIT_ALLOW_LOOPBACK_TARGETS)
    return problem(
      'REMIT_ALLOW_LOOPBACK_TARGETS=1 lets webhooks, issuers and sinks reach this machine',
      'remove REMIT_ALLOW_LOOPBACK_TARGETS',
    )
  return config.REMIT_EVALUATION
    ? problem('REMIT_EVALUATION=1 loads every module without a license', 'remove REMIT_EVALUATION')
    : ok('no setting for development is on')
}

export const ledgerKey: Check = async (facts) => {
  const path = ledgerKeyFile(facts.config)
  const foreign = await foreignLedgers(facts.db, await openLedgerKey(facts.config, false))
  if (foreign.length > 0)
    return problem(
      `${path} is not the key of the ledgers of ${listed(foreign)}, whose requests fail`,
      'set REMIT_LEDGER_KEY_FILE to the key that signed them, or record a rotation (docs/keys.md)',
    )
  return fileOf('REMIT_LEDGER_KEY_FILE', path, 'rewrite the ledger', facts)
}

export const secretsKey: Check = (facts) => {
  if (!hasModules()) return ok('community edition, which stores no secrets')
  openSecretsKeys(facts.config, false)
  const path = secretsKeyFile(facts.config)
  return fileOf('REMIT_SECRETS_KEY_FILE', path, 'read the stored secrets', facts)
}

export const pepper: Check = (facts) => {
  const { REMIT_CREDENTIAL_PEPPER_FILE: path } = facts.config
  if (path === undefined) return ok('not used')
  readPepperFile(facts.config)
  return fileOf('REMIT_CREDENTIAL_PEPPER_FILE', path, 'test guesses of credentials', facts)
}

/** Others must not read the file of a key, and no copy of the database may contain it. */
function fileOf(
  setting: string,
  path: string,
  may: string,
  { config, backup: backups }: CheckFacts,
): Finding {
  // The group may read: Kubernetes mounts secrets for the group of the pod.
  const mode = statSync(path).mode & 0o027
  if (mode !== 0)
    return problem(`${path} can be read by others, or changed by its group`, `chmod 600 ${path}`)
  const { REMIT_DATABASE_URL: url } = config
  const folders = [
    ...(isPostgres(url) ? [] : [['the database', dirname(url.slice('sqlite:'.length))] as const]),
    ...(backups === undefined ? [] : [['the backups', backups] as const]),
  ]
  for (const [what, folder] of folders)
    if (isBelow(path, folder))
      return warning(
        `${path} is in the folder of ${what}: who copies the folder can ${may}`,
        `move the file to another folder and set ${setting}`,
      )
  return ok(path)
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(realpathSync(folder), realpathSync(path))
  return way !== '' && !way.startsWith('..') && way !== resolve(way)
}

const isLoopback = (host: string): boolean => /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host)

export const tls: Check = ({ config: { REMIT_BASE_URL: base, REMIT_HOST: host } }) => {
  const todo = 'put a proxy with TLS in front and set REMIT_BASE_URL=https://… (docs/deployment.md)'
  const url = base === undefined ? null : new URL(base)
  if (url?.protocol === 'https:') return ok(url.origin)
  const isLocal = isLoopback(host) && (url === null || isLoopback(url.hostname))
  const message = url ? `REMIT_BASE_URL is ${url.origin}` : 'REMIT_BASE_URL is not set'
  return isLocal
    ? warning(`${message}, and only this machine reaches the server`, todo)
    : problem(`${message}: keys are sent in plain text`, todo)
}

/** Passwords of examples, and empty ones. */
const DEFAULT_PASSWORDS = new Set([
  '',
  'remit',
  'postgres',
  'password',
  'changeme',
  'secret',
  'admin',
])

export const databaseAccess: Check = ({ config: { REMIT_DATABASE_URL: text } }) => {
  if (!isPostgres(text)) {
    const path = text.slice('sqlite:'.length)
    return (statSync(path).mode & 0o027) === 0
      ? ok(path)
      : problem(`${path} can be read by others, or changed by its group`, `chmod 600 ${path}`)
  }
  const { username, password, hostname, searchParams } = new URL(text)
  const isRemote = hostname !== '' && !isLoopback(hostname)
  // Without one, it may come from PGPASSWORD, or a certificate is used.
  const hasOther = process.env['PGPASSWORD'] !== undefined || searchParams.has('sslcert')
  const isDefault = DEFAULT_PASSWORDS.has(decodeURIComponent(password))
  if (isDefault && hostname !== '' && !(password === '' && hasOther))
    return problem(
      `the password of ${username || 'the database'} is empty or a default one`,
      `ALTER ROLE … PASSWORD, and change REMIT_DATABASE_URL`,
    )
  if (isRemote && !/^verify-(?:ca|full)$/.test(searchParams.get('sslmode') ?? ''))
    return warning(
      `the connection to ${hostname} does not check the certificate of the database`,
      'add ?sslmode=verify-full to REMIT_DATABASE_URL, unless the network is encrypted',
    )
  return ok(`PostgreSQL on ${hostname === '' ? 'a socket' : hostname}`)
}

export interface CheckFacts {
  readonly config: Config
  /** Read-only. */
  readonly db: Database<CoreTables>
  readonly migrations: readonly MigrationSet[]
  /** The time of this machine in milliseconds. */
  readonly now: () => number
  /** The vendor's public key; tests pass their own. */
  readonly licenseKey: KeyObject
  /** Folder of backups, if it was given. */
  readonly backup: string | undefined
}

/** The result of one check, with what to do unless it is `ok`. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'problem'
  readonly message: string
  readonly todo: string | null
}

export type Check = (facts: CheckFacts) => Finding | Promise<Finding>

const ok = (message: string): Finding => ({ status: 'ok', message, todo: null })
const warning = (message: string, todo: string): Finding => ({
  status: 'warning',
  message,
  todo,
})
export const problem = (message: string, todo: string): Finding => ({
  status: 'problem',
  message,
  todo,
})

const SHOWN = 5

/** Lists names for a message: five at most, and how many more. */
const listed = (names: readonly string[]): string =>
  names.length <= SHOWN
    ? names.join(', ')
    : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
