import { createHash } from 'node:crypto'

const MAX_BYTES = 60 * 1024
const KEPT = 2_048

type Facts = Readonly<Record<string, unknown>>

/**
 * A context within the limits of a request: one that is larger has its long texts as
 * `{ sha256, length, start }`, and if that is not enough, its members as `{ sha256, length }`. Pure.
 */
export function fitted(context: Facts): Facts {
  if (sizeOf(context) <= MAX_BYTES) return context
  const short = shortTexts(context) as Facts
  if (sizeOf(short) <= MAX_BYTES) return short
  return Object.fromEntries(Object.entries(context).map(([name, value]) => [name, hashed(value)]))
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function shortTexts(value: unknown): unknown {
  if (typeof value === 'string' && value.length > KEPT)
    return {
      sha256: sha256(value),
      length: Buffer.byteLength(value),
      start: value.slice(0, KEPT).toWellFormed(),
    }
  if (Array.isArray(value)) return value.map(shortTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortTexts(item)]))
}

function hashed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return shortTexts(value)
  const text = JSON.stringify(value)
  return { sha256: sha256(text), length: Buffer.byteLength(text) }
}
