import { readFileSync, statSync } from 'node:fs'
import JSON5 from 'json5'
import { parse as parseToml } from 'smol-toml'
import { isMembers } from './finding.ts'
import type { Members } from './finding.ts'

const MAX_BYTES = 16 * 1024 * 1024

/** The content of a file; null if there is no file. Throws if it cannot be read. */
export function readConfig(path: string): Members | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return null
  if (!stat.isFile()) throw new Error('is no file')
  if (stat.size > MAX_BYTES) throw new Error(`is larger than ${MAX_BYTES} bytes`)
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  if (text.trim() === '') return {}
  // Hosts read comments and commas at the end, which JSON5 has.
  const content: unknown = path.endsWith('.toml') ? parseToml(text) : JSON5.parse(text)
  if (!isMembers(content)) throw new Error('is no object')
  return content
}
