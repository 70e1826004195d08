import { hex, sendable, sha256, shortening } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'
import { Unmappable } from './errors.ts'

const MAX_DEPTH = 500

/** Parts of a value that are written when their digests are known. */
type Jobs = (() => Promise<void>)[]

/**
 * A value as plain JSON, names in order. As `JSON.stringify`, but nothing is lost in silence: BigInt
 * becomes text, bytes become `{ sha256, length }`, a text with U+0000 or half a surrogate pair becomes
 * `{ sha256, length, start }`. Throws `Unmappable` for cycles, functions, maps and the like.
 */
export async function toPlain(value: unknown): Promise<Json> {
  // One pass without pauses: what a caller changes meanwhile is not read in halves.
  const jobs: Jobs = []
  const plain = plainValue(value, '', [], jobs)
  for (const job of jobs) await job()
  return plain
}

const isSendable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

function plainValue(value: unknown, path: string, outer: unknown[], jobs: Jobs): Json {
  switch (typeof value) {
    case 'string':
      return isSendable(value) ? value : shortenedLater(value, jobs)
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new Unmappable(path, `is ${value}`)
      return value === 0 ? 0 : value
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? null : plainObject(value, path, outer, jobs)
    default:
      throw new Unmappable(path, `is of type ${typeof value}`)
  }
}

function plainObject(value: object, path: string, outer: unknown[], jobs: Jobs): Json {
  if (outer.length === MAX_DEPTH || outer.includes(value))
    throw new Unmappable(path, 'is nested too deeply or contains a cycle')
  const inner = [...outer, value]
  if (value instanceof ArrayBuffer) return digestLater(new Uint8Array(value), jobs)
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value
    return digestLater(new Uint8Array(buffer, byteOffset, byteLength), jobs)
  }
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return plainValue((value as { toJSON(): unknown }).toJSON(), path, inner, jobs)
  if (Array.isArray(value))
    // Unlike `map`, it does not skip holes.
    return Array.from(value as unknown[], (item, index) =>
      item === undefined ? null : plainValue(item, `${path}/${index}`, inner, jobs),
    )
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  if (tag !== 'Object') throw new Unmappable(path, `is a ${tag}`)
  const plain: Record<string, Json> = {}
  for (const name of Object.keys(value).toSorted()) {
    const found = (value as Record<string, unknown>)[name]
    if (found === undefined) continue
    const member = plainValue(found, `${path}/${name}`, inner, jobs)
    if (isSendable(name)) setOwn(plain, name, member)
    else jobs.push(async () => setOwn(plain, await cleanName(name), member))
  }
  return plain
}

/** An assignment to `__proto__` would be lost. */
function setOwn(target: Record<string, Json>, name: string, value: Json): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true })
  else target[name] = value
}

function digestLater(view: Uint8Array, jobs: Jobs): Json {
  const bytes = Uint8Array.from(view)
  const made = { length: bytes.length, sha256: '' }
  jobs.push(async () => {
    made.sha256 = hex(await sha256(bytes))
  })
  return made
}

function shortenedLater(text: string, jobs: Jobs): Json {
  const { made, finish } = shortening(text)
  jobs.push(finish)
  return made
}

const cleanName = async (name: string): Promise<string> =>
  `${sendable(name)}~${hex(await sha256(name)).slice(0, 8)}`
