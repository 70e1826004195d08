import { readFileSync } from 'node:fs'
import type { JudgesSource } from '@remit/core'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'

/**
 * Reads `REMIT_JUDGES_FILE` for modules. Throws `ConfigError` if reading fails; the module
 * validates the content.
 */
export function readJudgesFile(
  { REMIT_JUDGES_FILE: path }: Config,
  env: Readonly<Record<string, string | undefined>>,
): JudgesSource | undefined {
  if (path === undefined) return undefined
  try {
    return { text: readFileSync(path, 'utf8'), variable: (name) => env[name] }
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new ConfigError(`REMIT_JUDGES_FILE: ${path} cannot be read: ${why}`)
  }
}
