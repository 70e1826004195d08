import { z } from 'zod'
import { fieldText } from './fields/index.ts'

export type Json = Record<string, unknown>
export type Components = Map<string, unknown>

const DEFS = '#/$defs/'
const SCHEMAS = '#/components/schemas/'

/**
 * JSON Schema 2020-12 of a zod type; what it shares is moved to `components`. `parent` is the name of
 * the operation, for descriptions of fields that are its own.
 */
export function jsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Components,
  parent: string,
): Json {
  const { $schema: _, $defs, ...root } = made(schema, io)
  const defs = new Map(Object.entries(($defs as Json | undefined) ?? {}))
  const isInline = io === 'input' ? havingDefaults(defs) : () => false
  for (const [id, shared] of defs) {
    const component = describe(link(shared, defs, isInline), id)
    if (!isInline(id)) components.set(id, component)
  }
  const { id, ...rest } = link(root, defs, isInline) as Json
  if (typeof id !== 'string' || rest['$ref'] !== undefined) return describe(rest, parent) as Json
  if (io === 'input' && hasDefault(root)) return { title: id, ...(describe(rest, id) as Json) }
  components.set(id, describe(rest, id))
  return { $ref: SCHEMAS + id }
}

const made = (schema: z.ZodType, io: 'input' | 'output'): Json =>
  z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: json }) => {
      // A default says what a request may leave out; an answer leaves nothing out.
      if (io === 'output') delete json.default
      // Zod omits the default of what is transformed, such as a number that arrives as text.
      else if (zodSchema instanceof z.ZodDefault)
        json.default ??= zodSchema.def.defaultValue as typeof json.default
      // A pattern has no flags in JSON Schema, and without `u` a property escape means other text.
      if (json.pattern?.includes('\\p{')) delete json.pattern
    },
  }) as Json

/**
 * Which shared schemas lead to a property with a default. Generators of types take such a property for
 * required, as it is in an answer, unless its schema stands in the request itself.
 */
function havingDefaults(defs: ReadonlyMap<string, unknown>): (id: string) => boolean {
  const leads = (id: string): boolean => {
    const node = defs.get(id)
    return hasDefault(node) || refsOf(node).some((ref) => ref !== id && leads(ref))
  }
  const known = new Map([...defs.keys()].map((id) => [id, leads(id)]))
  return (id) => known.get(id) ?? false
}

const isObject = (node: unknown): node is Json => typeof node === 'object' && node !== null

/** The schemas right below a schema, with the names of those that are properties. */
function* below(node: unknown): Generator<[schema: unknown, property: string | null]> {
  if (!isObject(node)) return
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value)) yield [property, name]
    } else if (isObject(value) && key !== 'default' && key !== 'enum') yield [value, null]
  }
}

const hasDefault = (node: unknown): boolean =>
  isObject(node) &&
  ((!Array.isArray(node) && 'default' in node) || [...below(node)].some(([one]) => hasDefault(one)))

const refsOf = (node: unknown): string[] =>
  isObject(node)
    ? [
        ...(typeof node['$ref'] === 'string' ? [node['$ref'].slice(DEFS.length)] : []),
        ...[...below(node)].flatMap(([one]) => refsOf(one)),
      ]
    : []

/** Leads references to the components, and puts what is inline in the place of its reference. */
function link(
  node: unknown,
  defs: ReadonlyMap<string, unknown>,
  isInline: (id: string) => boolean,
): unknown {
  if (Array.isArray(node)) return node.map((one) => link(one, defs, isInline))
  if (!isObject(node)) return node
  const { $ref, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, link(value, defs, isInline)]),
  )
  if (typeof $ref !== 'string') return rest
  const id = $ref.slice(DEFS.length)
  if (!isInline(id)) return { $ref: SCHEMAS + id, ...rest }
  const { id: _, ...shared } = link(defs.get(id), defs, isInline) as Json
  return { title: id, ...shared, ...rest }
}

/** Gives every property a description: its own, else the one of the vocabulary. */
export function describe(node: unknown, parent: string): unknown {
  if (Array.isArray(node)) return node.map((one) => describe(one, parent))
  if (!isObject(node)) return node
  const scope = typeof node['title'] === 'string' ? node['title'] : parent
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) =>
      key === 'properties' && isObject(value)
        ? [key, describeProperties(value, scope)]
        : [key, key === 'default' || key === 'enum' ? value : describe(value, scope)],
    ),
  )
}

const describeProperties = (properties: Json, parent: string): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const own = describe(schema, name) as Json
      const description = own['description'] ?? fieldText(parent, name)
      return [name, description === undefined ? own : { ...own, description }]
    }),
  )
