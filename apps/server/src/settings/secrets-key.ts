import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createSecretFile, generateSecretsKey, SECRETS_KEY_BYTES } from '@remit/core/secrets'
import { OPERATOR_NAME } from '@remit/core/server'
import { ConfigError } from './environment.ts'
import type { Config } from './config.ts'
import { ledgerKeyFile } from './ledger-key.ts'
import { fileFault, readSettingFile } from './read-file.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

interface Expected {
  /** The kind of key, for messages. */
  readonly noun: string
  readonly leastBytes: number
  readonly mostBytes?: number
}

/** Reads the keys of the file of a setting. Throws `ConfigError`. */
const readKeyLines = (setting: string, path: string, expected: Expected): readonly KeyObject[] =>
  parseKeyLines(
    readSettingFile(setting, path),
    expected,
    (why) => new ConfigError(`${setting}: ${path} cannot be used: ${why}`),
  )

/**
 * Parses keys, one per line in base64, the current one first. Throws for an invalid text, whose
 * content is never shown.
 */
export function parseKeyLines(
  text: string,
  { noun, leastBytes, mostBytes = Infinity }: Expected,
  refuse: (why: string) => Error,
): readonly KeyObject[] {
  const lines = text.split('\n').map((line) => line.trim())
  const keys = [...lines.entries()].flatMap(([i, line]) => {
    if (line === '') return []
    const bytes = Buffer.from(line, 'base64')
    if (!BASE64.test(line)) throw refuse(`line ${i + 1} is not base64`)
    if (bytes.length < leastBytes) throw refuse(`line ${i + 1} has fewer than ${leastBytes} bytes`)
    if (bytes.length > mostBytes) throw refuse(`line ${i + 1} has more than ${mostBytes} bytes`)
    return [createSecretKey(bytes)]
  })
  if (keys.length === 0) throw refuse(`it contains no ${noun}`)
  return keys
}

const SETTING = 'REMIT_SECRETS_KEY_FILE'
/** The lines of such a file. */
export const SECRETS_KEYS: Expected = {
  noun: 'key',
  leastBytes: SECRETS_KEY_BYTES,
  mostBytes: SECRETS_KEY_BYTES,
}

/**
 * Returns the path of the key file for stored secrets: the configured one, else next to the ledger
 * key.
 */
export const secretsKeyFile = (config: Config): string =>
  config.REMIT_SECRETS_KEY_FILE ?? join(dirname(ledgerKeyFile(config)), 'secrets-key.txt')

/**
 * Returns the keys of that file; the first encrypts, all decrypt. Throws `ConfigError` if it is
 * missing and must not be created, or invalid.
 */
export function openSecretsKeys(config: Config, mayCreate: boolean): readonly KeyObject[] {
  const path = secretsKeyFile(config)
  if (!existsSync(path)) {
    if (!mayCreate)
      throw new ConfigError(
        `${SETTING}: ${path} does not exist; create it with \`remit secrets keygen ${path}\``,
      )
    create(path)
  }
  return readSecretsKeys(path)
}

/** Reads a key file. Throws `ConfigError`. */
export const readSecretsKeys = (path: string): readonly KeyObject[] =>
  readKeyLines(SETTING, path, SECRETS_KEYS)

function create(path: string): void {
  try {
    createSecretFile(path, generateSecretsKey())
  } catch (error) {
    throw new ConfigError(`${SETTING}: ${path} cannot be created: ${fileFault(error)}`)
  }
}

/** Reads the peppers of `REMIT_CREDENTIAL_PEPPER_FILE`; the first is for new credentials. */
export const readPepperFile = ({
  REMIT_CREDENTIAL_PEPPER_FILE: path,
}: Config): readonly KeyObject[] | undefined =>
  path === undefined
    ? undefined
    : readKeyLines('REMIT_CREDENTIAL_PEPPER_FILE', path, {
        noun: 'pepper',
        leastBytes: 32,
      })

const OPERATOR_KEYS_SETTING = 'REMIT_OPERATOR_KEYS_FILE'

/**
 * Reads the names of operator keys by their hashes; undefined without the setting. Throws
 * `ConfigError` that names the line.
 */
export function operatorKeysIn(path: string | undefined): ReadonlyMap<string, string> | undefined {
  if (path === undefined) return undefined
  const names = new Map<string, string>()
  for (const [at, line] of readSettingFile(OPERATOR_KEYS_SETTING, path).split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [name = '', hash = '', ...rest] = line.trim().split(/\s+/)
    if (!OPERATOR_NAME.test(name) || !/^[0-9a-f]{64}$/.test(hash) || rest.length > 0)
      throw new ConfigError(
        `${OPERATOR_KEYS_SETTING}: line ${at + 1} must be a name and the SHA-256 of a key, as \`remit key operator <name>\` prints them`,
      )
    if (names.has(hash) || [...names.values()].includes(name))
      throw new ConfigError(`${OPERATOR_KEYS_SETTING}: line ${at + 1} repeats a name or a key`)
    names.set(hash, name)
  }
  if (names.size === 0) throw new ConfigError(`${OPERATOR_KEYS_SETTING} has no key`)
  return names
}
