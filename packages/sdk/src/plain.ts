import { bytesOf, hex, sha256 } from './digest.ts'
import { Unmappable } from './errors.ts'
import type { Json } from './json.ts'

const MAX_DEPTH = 500
/** Bytes of a long text that are kept. */
export const KEPT_BYTES = 2048
const UNSENDABLE = /[\0\p{Cs}]/u
const EACH_UNSENDABLE = /[\0\p{Cs}]/gu

/**
 * A value as plain JSON, names in order. As `JSON.stringify`, but nothing is lost in silence: BigInt
 * becomes text, bytes become `{ sha256, length }`, a text with U+0000 or half a surrogate pair becomes
 * `{ sha256, length, start }`. Throws `Unmappable` for cycles, functions, maps and the like.
 */
export async function toPlain(value: unknown, path = '', outer: unknown[] = []): Promise<Json> {
  switch (typeof value) {
    case 'string':
      return UNSENDABLE.test(value) ? await shortened(value) : value
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new Unmappable(path, `is ${value}`)
      return value === 0 ? 0 : value
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? null : plainObject(value, path, outer)
    default:
      throw new Unmappable(path, `is of type ${typeof value}`)
  }
}

async function plainObject(value: object, path: string, outer: unknown[]): Promise<Json> {
  if (outer.length === MAX_DEPTH || outer.includes(value))
    throw new Unmappable(path, 'is nested too deeply or contains a cycle')
  const inner = [...outer, value]
  if (value instanceof ArrayBuffer) return digestOf(new Uint8Array(value))
  if (ArrayBuffer.isView(value))
    return digestOf(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return toPlain((value as { toJSON(): unknown }).toJSON(), path, inner)
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const [index, item] of (value as unknown[]).entries())
      items.push(item === undefined ? null : await toPlain(item, `${path}/${index}`, inner))
    return items
  }
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  if (tag !== 'Object') throw new Unmappable(path, `is a ${tag}`)
  const members: [string, Json][] = []
  for (const name of Object.keys(value).toSorted()) {
    const member = (value as Record<string, unknown>)[name]
    if (member === undefined) continue
    members.push([await nameOf(name), await toPlain(member, `${path}/${name}`, inner)])
  }
  return Object.fromEntries(members)
}

const digestOf = async (bytes: Uint8Array): Promise<Json> => ({
  length: bytes.byteLength,
  sha256: hex(await sha256(Uint8Array.from(bytes))),
})

/** A text by its SHA-256, its length in bytes of UTF-8 and its first 2 KiB. */
export async function shortened(text: string): Promise<Json> {
  const bytes = bytesOf(text)
  const start = bytesOf(text.replace(EACH_UNSENDABLE, '\ufffd')).subarray(0, KEPT_BYTES)
  return {
    length: bytes.length,
    sha256: hex(await sha256(bytes)),
    // As a stream, so that a character that is cut in two is left out.
    start: new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: true }),
  }
}

async function nameOf(name: string): Promise<string> {
  if (!UNSENDABLE.test(name)) return name
  return `${name.replace(EACH_UNSENDABLE, '\ufffd')}~${hex(await sha256(name)).slice(0, 8)}`
}
