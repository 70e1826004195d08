import type { JudgesSource } from '@remit/core/module'
import type { Config } from './config.ts'
import { readSettingFile } from './read-file.ts'

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
