import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { ConfigError } from './environment.ts'
import { readSettingFile } from './read-file.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export interface Expected {
  /** The kind of key, for messages. */
  readonly noun: string
  readonly leastBytes: number
  readonly mostBytes?: number
}

/** Reads the keys of the file of a setting. Throws `ConfigError`. */
export const readKeyLines = (
  setting: string,
  path: string,
  expected: Expected,
): readonly KeyObject[] =>
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
