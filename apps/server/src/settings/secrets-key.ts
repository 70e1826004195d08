import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createSecretFile, generateSecretsKey, SECRETS_KEY_BYTES } from '@remit/core/secrets'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'
import { readKeyLines } from './key-lines.ts'
import type { Expected } from './key-lines.ts'
import { ledgerKeyFile } from './ledger-key.ts'
import { fileFault } from './read-file.ts'

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
