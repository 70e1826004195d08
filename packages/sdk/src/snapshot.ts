import { hex, isStub, sendable, sha256, shortening } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'
import { Unmappable } from './errors.ts'

interface Walk extends Place {
  /** The tool reads the value itself: a getter could return yet another value then. */
  readonly isUsed: boolean
}

/**
 * A deep copy of an input, for its decision and for the tool: what one of them sees, the other one gets, whatever
 * happens to the input meanwhile. Takes plain objects and arrays, texts, numbers, dates, URLs and bytes. Throws
 * `Unmappable` for anything else, such as an instance of a class, of which rules would see a part.
 */
export const snapshot = (value: unknown): unknown => copied(value, false)

function copied(value: unknown, isUsed: boolean): unknown {
  const walk: Walk = { objects: [], steps: [], isUsed }
  for (const name of Object.keys(Object.prototype)) throw unmappable(walk, `inherits ${name}`)
  return copyOf(value, walk)
}

/** True if a value is still what its snapshot says. */
export function isUnchanged(copy: unknown, value: unknown): boolean {
  try {
    return isSame(copy, copied(value, true))
  } catch {
    return false
  }
}

function copyOf(value: unknown, walk: Walk): unknown {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw unmappable(walk, `is of type ${typeof value}`)
  // For a rule, there is one zero.
  if (value === 0) return 0
  if (typeof value !== 'object' || value === null) return value
  checkNesting(value, walk)
  walk.objects.push(value)
  const copy = Array.isArray(value)
    ? itemsOf(value as unknown[], walk)
    : (ofKnownClass(value, walk) ?? membersOf(value, walk))
  walk.objects.pop()
  return copy
}

function itemsOf(items: unknown[], walk: Walk): unknown[] {
  const prototype = Object.getPrototypeOf(items) as object | null
  // Also that of another realm is a list.
  if (!Array.isArray(prototype) || !isRoot(Object.getPrototypeOf(prototype) as object | null))
    throw unmappable(walk, `is a ${nameOf(items)}, not plain data`)
  // Keys of items come before `length`, all others after it.
  if (Reflect.ownKeys(items).at(-1) !== 'length') throw unmappable(walk, 'is a list with a member')
  // Unlike `map`, it does not skip holes.
  return Array.from(items.keys(), (index) => partOf(items, index, walk))
}

/** True for `Object.prototype`, of this realm or another one, and for a prototype without members. */
const isRoot = (prototype: object | null): boolean =>
  prototype !== null &&
  Object.getPrototypeOf(prototype) === null &&
  Reflect.ownKeys(prototype).every((key) => Object.hasOwn(Object.prototype, key))

function partOf(value: object, step: string | number, walk: Walk): unknown {
  walk.steps.push(step)
  if (walk.isUsed && Object.getOwnPropertyDescriptor(value, step)?.get)
    throw unmappable(walk, 'is a getter')
  const copy = copyOf((value as Record<string | number, unknown>)[step], walk)
  walk.steps.pop()
  return copy
}

function ofKnownClass(value: object, walk: Walk): object | null {
  if (value instanceof Date) {
    const time = Date.prototype.getTime.call(value)
    if (Number.isNaN(time)) throw unmappable(walk, 'is an invalid date')
    return new Date(time)
  }
  if (value instanceof URL) return new URL(value.href)
  const bytes = bytesIn(value)
  if (!bytes) return null
  // By no method of the value, whose class could return the value itself.
  const { buffer } = new Uint8Array(bytes)
  if (value instanceof ArrayBuffer) return buffer
  const { Buffer } = globalThis
  if (Buffer?.isBuffer(value)) return Buffer.from(buffer)
  const kind = Reflect.get(NUMBERS, Symbol.toStringTag, value) as 'Int8Array' | undefined
  const Numbers: new (copy: ArrayBuffer) => object = globalThis[kind ?? 'DataView']
  return new Numbers(buffer)
}

/** Its getter tells the class of an array of numbers, whatever was derived from it. */
const NUMBERS = Object.getPrototypeOf(Uint8Array.prototype) as object

function membersOf(value: object, walk: Walk): object {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype !== null && !isRoot(prototype))
    throw unmappable(walk, `is a ${nameOf(value)}, not plain data`)
  const tag = Object.prototype.toString.call(value)
  if (tag !== '[object Object]') throw unmappable(walk, `is a ${tag.slice(8, -1)}, not plain data`)
  const names = Object.keys(value)
  if (Reflect.ownKeys(value).length !== names.length)
    throw unmappable(walk, 'has a member that is not enumerable, or no text names it')
  const copy = {}
  for (const name of names) {
    const member = partOf(value, name, walk)
    // For a rule, such a member is not there.
    if (member !== undefined) setOwn(copy, name, member)
  }
  return copy
}

function nameOf({ constructor }: object): string {
  const name = typeof constructor === 'function' ? constructor.name : ''
  return name === '' || name === 'Object' ? 'object with a prototype of its own' : name
}

function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  if (one instanceof Date || one instanceof URL) return one.toJSON() === (other as Date).toJSON()
  const [bytes, otherBytes] = [bytesIn(one), bytesIn(other)]
  if (bytes && otherBytes) return String(bytes) === String(otherBytes)
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        isSame((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    )
  )
}

const MAX_DEPTH = 500

interface Place {
  readonly objects: object[]
  readonly steps: (string | number)[]
}

interface CopyWalk extends Place {
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
  const walk: CopyWalk = { objects: [], steps: [], jobs: [] }
  const plain = plainValue(value, walk)
  return walk.jobs.length === 0 ? plain : finished(plain, walk)
}

async function finished(plain: Json, { jobs }: CopyWalk): Promise<Json> {
  for (const job of jobs) await job()
  return plain
}

const unmappable = ({ steps }: Place, problem: string): Unmappable =>
  new Unmappable(steps.map((step) => `/${step}`).join(''), problem)

/** Throws `Unmappable` for an object too deep within others, or within itself. */
function checkNesting(value: object, place: Place): void {
  const { objects } = place
  if (objects.length === MAX_DEPTH || objects.includes(value))
    throw unmappable(place, 'is nested too deeply or contains a cycle')
}

const isSendable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

function plainValue(value: unknown, walk: CopyWalk): Json {
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

function plainObject(value: object, walk: CopyWalk): Json {
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

function plainParts(value: object, walk: CopyWalk): Json {
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

function plainPart(value: unknown, step: string | number, walk: CopyWalk): Json {
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
function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  else target[name] = value
}

function bytesIn(value: object): Uint8Array | null {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (!ArrayBuffer.isView(value)) return null
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}

function digestLater(view: Uint8Array, { jobs }: CopyWalk): Json {
  const bytes = Uint8Array.from(view)
  const made = { length: bytes.length, sha256: '' }
  jobs.push(async () => {
    made.sha256 = hex(await sha256(bytes))
  })
  return made
}

function shortenedLater(text: string, { jobs }: CopyWalk): Json {
  const { stub, finish } = shortening(text)
  jobs.push(finish)
  return stub
}

const cleanName = async (name: string): Promise<string> =>
  `${sendable(name)}~${hex(await sha256(name)).slice(0, 8)}`
