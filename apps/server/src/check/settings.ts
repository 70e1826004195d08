import { realpathSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { hasModules } from '../boot/modules.ts'
import { isPostgres } from '../settings/environment.ts'
import { foreignLedgers, ledgerKeyFile, openLedgerKey } from '../settings/ledger-key.ts'
import { checkLicense, expiryNotice } from '../settings/license.ts'
import { readPepperFile, openSecretsKeys, secretsKeyFile } from '../settings/secrets-key.ts'
import { listed, ok, problem, warning } from './finding.ts'
import type { Check, CheckFacts, Finding } from './finding.ts'

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
  { config, backup }: CheckFacts,
): Finding {
  // The group may read: Kubernetes mounts secrets for the group of the pod.
  const mode = statSync(path).mode & 0o027
  if (mode !== 0)
    return problem(`${path} can be read by others, or changed by its group`, `chmod 600 ${path}`)
  const { REMIT_DATABASE_URL: url } = config
  const folders = [
    ...(isPostgres(url) ? [] : [['the database', dirname(url.slice('sqlite:'.length))] as const]),
    ...(backup === undefined ? [] : [['the backups', backup] as const]),
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
