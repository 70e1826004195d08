import { getSystemErrorMessage } from 'node:util'
import { readWholeFile } from '@remit/core/base'
import { ConfigError } from './environment.ts'

/** Returns the text of the file of a setting. Throws `ConfigError`. */
export function readSettingFile(setting: string, path: string): string {
  try {
    return readWholeFile(path).toString()
  } catch (error) {
    throw new ConfigError(`${setting}: ${path} cannot be read: ${fileFault(error)}`)
  }
}

export const isSystemError = (error: unknown): error is NodeJS.ErrnoException & { errno: number } =>
  error instanceof Error && 'errno' in error && typeof error.errno === 'number'

/** Returns the reason why a file cannot be used, without codes. */
export function fileFault(error: unknown): string {
  if (isSystemError(error)) return getSystemErrorMessage(error.errno)
  return error instanceof Error ? error.message : String(error)
}
