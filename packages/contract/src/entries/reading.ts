import type { z } from 'zod'

/** A JSON object with members of any name. */
export type RecordedJson = Readonly<Record<string, unknown>>

/** A value of an entry; null where it is missing or of another type. */
export type Found<T> = unknown extends T
  ? unknown
  : [T] extends [string]
    ? string | null
    : [T] extends [number]
      ? number | null
      : [T] extends [boolean]
        ? boolean | null
        : [T] extends [readonly (infer Item)[]]
          ? readonly NonNullable<Found<NonNullable<Item>>>[] | null
          : [T] extends [object]
            ? string extends keyof T
              ? RecordedJson | null
              : { readonly [Name in keyof T]-?: Found<NonNullable<T[Name]>> } | null
            : unknown

type Read = (value: unknown) => unknown

export const isRecord = (value: unknown): value is RecordedJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const READERS = new WeakMap<z.core.$ZodType, Read>()

/** Returns the reader of a schema, built once. It gives null for a value of another type. */
export function readerOf(schema: z.core.$ZodType): Read {
  let read = READERS.get(schema)
  if (!read) READERS.set(schema, (read = build(schema as z.ZodType)))
  return read
}

function build(schema: z.ZodType): Read {
  const def = schema.def as z.core.$ZodTypes['_zod']['def']
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
      return readerOf(def.innerType)
    // `mapOf` checks the value, and then reads a record.
    case 'pipe':
      return readerOf(def.out)
    case 'string':
    case 'enum':
      return ofType('string')
    case 'number':
      return (schema as z.ZodNumber).format === 'safeint' ? count : ofType('number')
    case 'boolean':
      return ofType('boolean')
    case 'literal':
      return ofType(typeof def.values[0])
    case 'record':
      return (value) => (isRecord(value) ? value : null)
    case 'array': {
      const read = readerOf(def.element)
      const items = (list: readonly unknown[]) => list.map(read).filter((item) => item !== null)
      return (value) => (Array.isArray(value) ? items(value) : null)
    }
    case 'object':
      return objectReader(def.shape)
    case 'union': {
      const reads = def.options.map(readerOf)
      return (value) => reads.map((read) => read(value)).find((found) => found !== null) ?? null
    }
    case 'unknown':
      return (value) => value
    case 'null':
      return () => null
    default:
      throw new TypeError(`The catalogue of entries has no reader for ${def.type}`)
  }
}

const ofType =
  (type: string): Read =>
  (value) =>
    typeof value === type ? value : null

/** A whole number of an entry is a count or a place: from 0 to 2^53 - 1. */
const count: Read = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? value : null

/** Reads members on access: few readers need them all. */
function objectReader(shape: z.core.$ZodShape): Read {
  class Reading {
    readonly #raw: RecordedJson
    constructor(raw: RecordedJson) {
      this.#raw = raw
    }
    toJSON() {
      return this.#raw
    }
    static {
      for (const [name, schema] of Object.entries(shape)) {
        const read = readerOf(schema)
        Object.defineProperty(this.prototype, name, {
          get(this: Reading) {
            return read(this.#raw[name])
          },
        })
      }
    }
  }
  return (value) => (isRecord(value) ? new Reading(value) : null)
}
