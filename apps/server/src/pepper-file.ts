import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'

const LEAST_BYTES = 32
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * The peppers of `REMIT_CREDENTIAL_PEPPER_FILE`, one a line in base64, the one for new credentials
 * first. Throws `ConfigError` for a file that cannot be read or used; what stands in it is never shown.
 */
export function readPepperFile({
  REMIT_CREDENTIAL_PEPPER_FILE: path,
}: Config): readonly KeyObject[] | undefined {
  if (path === undefined) return undefined
  const refuse = (why: string) =>
    new ConfigError(`REMIT_CREDENTIAL_PEPPER_FILE: ${path} cannot be used: ${why}`)
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw refuse(error instanceof Error && 'code' in error ? String(error.code) : String(error))
  }
  const lines = text.split('\n').map((line) => line.trim())
  const peppers = [...lines.entries()].flatMap(([i, line]) => {
    if (line === '') return []
    const bytes = Buffer.from(line, 'base64')
    if (!BASE64.test(line)) throw refuse(`line ${i + 1} is not base64`)
    if (bytes.length < LEAST_BYTES)
      throw refuse(`line ${i + 1} has fewer than ${LEAST_BYTES} bytes`)
    return [createSecretKey(bytes)]
  })
  if (peppers.length === 0) throw refuse('there is no pepper in it')
  return peppers
}
