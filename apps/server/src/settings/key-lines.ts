import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigError } from './config.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

interface Expected {
  /** The setting of the file, for messages. */
  readonly setting: string
  /** The kind of key, for messages. */
  readonly noun: string
  readonly leastBytes: number
  readonly mostBytes?: number
}

/**
 * Reads the keys of a file, one per line in base64, the current one first. Throws `ConfigError` for
 * an invalid file; its content is never shown.
 */
export function readKeyLines(
  path: string,
  { setting, noun, leastBytes, mostBytes = Infinity }: Expected,
): readonly KeyObject[] {
  const refuse = (why: string) => new ConfigError(`${setting}: ${path} cannot be used: ${why}`)
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw refuse(error instanceof Error && 'code' in error ? String(error.code) : String(error))
  }
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
