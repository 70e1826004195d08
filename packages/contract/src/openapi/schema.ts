import { z } from 'zod'
import { fieldText } from './fields.ts'

export type Json = Record<string, unknown>
export type Components = Map<string, unknown>

const DEFS = '#/$defs/'
const SCHEMAS = '#/components/schemas/'

/**
 * Returns the JSON Schema 2020-12 of a zod type; shared schemas are moved to `components`. `parent`
 * is the name of the operation, for its own field descriptions.
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
      // A default makes a member optional in requests; responses always have it.
      if (io === 'output') delete json.default
      // Zod omits the default of a transformed value, such as a number in text form.
      else if (zodSchema instanceof z.ZodDefault)
        json.default ??= zodSchema.def.defaultValue as typeof json.default
      // A pattern has no flags in JSON Schema, and without `u` a property escape has another
      // meaning.
      if (json.pattern?.includes('\\p{')) delete json.pattern
    },
  }) as Json

/**
 * Returns the shared schemas that lead to a property with a default. Type generators treat such a
 * property as required, as in a response, unless its schema is inline in the request.
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

/** Yields the direct sub-schemas of a schema, with the names of properties. */
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

/** Points references to the components, and replaces references to inline schemas. */
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

/** Adds a description to every property: its own, else the default one. */
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
