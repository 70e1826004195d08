import { hex, isStub, sendable, sha256, shortening } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'
import { Unmappable } from './errors.ts'

const MAX_DEPTH = 500

/** The place of the value that is read. */
export interface Place {
  readonly objects: object[]
  readonly steps: (string | number)[]
}

interface Walk extends Place {
  /** Parts that are written when their digests are known. */
  readonly jobs: (() => Promise<void>)[]
}

/**
 * A value as plain JSON, names in order. As `JSON.stringify`, but nothing is lost in silence: BigInt
 * becomes text, bytes become `{ sha256, length }`, a text with U+0000 or half a surrogate pair becomes
 * `{ sha256, length, start }`. Throws `Unmappable` for cycles, functions, maps and the like. A promise
 * only where a digest is needed.
 */
export function toPlain(value: unknown): Json | Promise<Json> {
  // One pass without pauses: what a caller changes meanwhile is not read in halves.
  const walk: Walk = { objects: [], steps: [], jobs: [] }
  const plain = plainValue(value, walk)
  return walk.jobs.length === 0 ? plain : finished(plain, walk)
}

async function finished(plain: Json, { jobs }: Walk): Promise<Json> {
  for (const job of jobs) await job()
  return plain
}

export const unmappable = ({ steps }: Place, problem: string): Unmappable =>
  new Unmappable(steps.map((step) => `/${step}`).join(''), problem)

/** Throws `Unmappable` for an object too deep within others, or within itself. */
export function checkNesting(value: object, place: Place): void {
  const { objects } = place
  if (objects.length === MAX_DEPTH || objects.includes(value))
    throw unmappable(place, 'is nested too deeply or contains a cycle')
}

const isSendable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

function plainValue(value: unknown, walk: Walk): Json {
  switch (typeof value) {
    case 'string':
      return isSendable(value) ? value : shortenedLater(value, walk)
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw unmappable(walk, `is ${value}`)
      return value === 0 ? 0 : value
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? null : plainObject(value, walk)
    default:
      throw unmappable(walk, `is of type ${typeof value}`)
  }
}

function plainObject(value: object, walk: Walk): Json {
  // Made by `applyMapping`, within a mapping of one's own.
  if (isStub(value)) return value
  const { objects } = walk
  checkNesting(value, walk)
  const bytes = bytesIn(value)
  if (bytes) return digestLater(bytes, walk)
  objects.push(value)
  const plain = plainParts(value, walk)
  objects.pop()
  return plain
}

function plainParts(value: object, walk: Walk): Json {
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return plainValue((value as { toJSON(): unknown }).toJSON(), walk)
  if (Array.isArray(value))
    // Unlike `map`, it does not skip holes.
    return Array.from(value as unknown[], (item, index) =>
      item === undefined ? null : plainPart(item, index, walk),
    )
  const tag = Object.prototype.toString.call(value)
  if (tag !== '[object Object]') throw unmappable(walk, `is a ${tag.slice(8, -1)}`)
  const plain: Record<string, Json> = {}
  for (const name of inOrder(Object.keys(value))) {
    const found = (value as Record<string, unknown>)[name]
    if (found === undefined) continue
    const member = plainPart(found, name, walk)
    if (isSendable(name)) setOwn(plain, name, member)
    else walk.jobs.push(async () => setOwn(plain, await cleanName(name), member))
  }
  return plain
}

function plainPart(value: unknown, step: string | number, walk: Walk): Json {
  walk.steps.push(step)
  const plain = plainValue(value, walk)
  walk.steps.pop()
  return plain
}

/** Most are in order already. */
function inOrder(names: readonly string[]): readonly string[] {
  let last = ''
  for (const name of names) {
    if (name < last) return names.toSorted()
    last = name
  }
  return names
}

/** An assignment to `__proto__` would be lost. */
export function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  else target[name] = value
}

/** The bytes of a value that is made of them. */
export function bytesIn(value: object): Uint8Array | null {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (!ArrayBuffer.isView(value)) return null
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}

function digestLater(view: Uint8Array, { jobs }: Walk): Json {
  const bytes = Uint8Array.from(view)
  const made = { length: bytes.length, sha256: '' }
  jobs.push(async () => {
    made.sha256 = hex(await sha256(bytes))
  })
  return made
}

function shortenedLater(text: string, { jobs }: Walk): Json {
  const { stub, finish } = shortening(text)
  jobs.push(finish)
  return stub
}

const cleanName = async (name: string): Promise<string> =>
  `${sendable(name)}~${hex(await sha256(name)).slice(0, 8)}`
