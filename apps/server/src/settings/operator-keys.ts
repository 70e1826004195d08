import { OPERATOR_NAME } from '@remit/core/server'
import { ConfigError } from './config.ts'
import { readSettingFile } from './read-file.ts'

const SETTING = 'REMIT_OPERATOR_KEYS_FILE'

/**
 * Reads the names of operator keys by their hashes; undefined without the setting. Throws
 * `ConfigError` that names the line.
 */
export function operatorKeysIn(path: string | undefined): ReadonlyMap<string, string> | undefined {
  if (path === undefined) return undefined
  const names = new Map<string, string>()
  for (const [at, line] of readSettingFile(SETTING, path).split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [name = '', hash = '', ...rest] = line.trim().split(/\s+/)
    if (!OPERATOR_NAME.test(name) || !/^[0-9a-f]{64}$/.test(hash) || rest.length > 0)
      throw new ConfigError(
        `${SETTING}: line ${at + 1} must be a name and the SHA-256 of a key, as \`remit key operator <name>\` prints them`,
      )
    if (names.has(hash) || [...names.values()].includes(name))
      throw new ConfigError(`${SETTING}: line ${at + 1} repeats a name or a key`)
    names.set(hash, name)
  }
  if (names.size === 0) throw new ConfigError(`${SETTING} has no key`)
  return names
}
