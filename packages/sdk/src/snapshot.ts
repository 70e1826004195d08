import { Unmappable } from './errors.ts'
import { setOwn } from './plain.ts'

const MAX_DEPTH = 500

interface Walk {
  readonly objects: object[]
  readonly steps: (string | number)[]
}

/**
 * A deep copy of an input, for its decision and for the tool: what one of them sees, the other one gets, whatever
 * happens to the input meanwhile. Takes plain objects and arrays, texts, numbers, dates, URLs and bytes. Throws
 * `Unmappable` for anything else, such as an instance of a class, of which rules would see a part.
 */
export const snapshot = (value: unknown): unknown => copyOf(value, { objects: [], steps: [] })

/** True if a value is still what its snapshot says. */
export function isUnchanged(copy: unknown, value: unknown): boolean {
  try {
    return isSame(copy, snapshot(value))
  } catch {
    return false
  }
}

const unmappable = ({ steps }: Walk, problem: string): Unmappable =>
  new Unmappable(steps.map((step) => `/${step}`).join(''), problem)

function copyOf(value: unknown, walk: Walk): unknown {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw unmappable(walk, `is of type ${typeof value}`)
  if (typeof value !== 'object' || value === null) return value
  const { objects } = walk
  if (objects.length === MAX_DEPTH || objects.includes(value))
    throw unmappable(walk, 'is nested too deeply or contains a cycle')
  objects.push(value)
  const copy = Array.isArray(value)
    ? itemsOf(value as unknown[], walk)
    : (ofKnownClass(value, walk) ?? membersOf(value, walk))
  objects.pop()
  return copy
}

function itemsOf(items: unknown[], walk: Walk): unknown[] {
  const prototype = Object.getPrototypeOf(Object.getPrototypeOf(items) ?? {}) as object | null
  if (prototype === null || Object.getPrototypeOf(prototype) !== null)
    throw unmappable(walk, `is a ${nameOf(items)}, not plain data`)
  // Keys of items come before `length`, all others after it.
  if (Reflect.ownKeys(items).at(-1) !== 'length')
    throw unmappable(walk, 'is a list with a member of its own')
  // Unlike `map`, it does not skip holes.
  return Array.from(items, (item, index) => partOf(item, index, walk))
}

function partOf(value: unknown, step: string | number, walk: Walk): unknown {
  walk.steps.push(step)
  const copy = copyOf(value, walk)
  walk.steps.pop()
  return copy
}

/** Of all arrays of numbers: the own `slice` of Node's `Buffer` does not copy. */
const NUMBERS = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array

function ofKnownClass(value: object, walk: Walk): object | null {
  if (value instanceof Date) {
    const time = Date.prototype.getTime.call(value)
    if (Number.isNaN(time)) throw unmappable(walk, 'is an invalid date')
    return new Date(time)
  }
  if (value instanceof URL) return new URL(value.href)
  if (value instanceof ArrayBuffer) return value.slice(0)
  if (!ArrayBuffer.isView(value)) return null
  if (!(value instanceof DataView)) return NUMBERS.slice.call(value)
  return new DataView(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength))
}

function membersOf(value: object, walk: Walk): object {
  const prototype = Object.getPrototypeOf(value) as object | null
  // Another realm has another `Object.prototype`.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw unmappable(walk, `is a ${nameOf(value)}, not plain data`)
  const tag = Object.prototype.toString.call(value)
  if (tag !== '[object Object]') throw unmappable(walk, `is a ${tag.slice(8, -1)}, not plain data`)
  const names = Object.keys(value)
  if (Reflect.ownKeys(value).length !== names.length)
    throw unmappable(walk, 'has a member that is not enumerable, or no text names it')
  const copy = {}
  for (const name of names) {
    const member = partOf((value as Record<string, unknown>)[name], name, walk)
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
  if (bytes && otherBytes)
    return (
      bytes.length === otherBytes.length && bytes.every((byte, index) => byte === otherBytes[index])
    )
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

function bytesIn(value: object): Uint8Array | null {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (!ArrayBuffer.isView(value)) return null
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}
