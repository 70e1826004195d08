import fc from 'fast-check'

type Json = Readonly<Record<string, unknown>>

/** Values that programs stumble over. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    1.5,
    1e9,
    1e308,
    5e-324,
    Number.MAX_SAFE_INTEGER,
    -(2 ** 63),
    '',
    ' ',
    '*',
    'NaN',
    '__proto__',
    'constructor',
    "'; drop table ledger_entry; --",
    '${7*7}',
    '../../etc/passwd',
    '\u200b',
    '\u202e',
    'e\u0301',
    '💥'.repeat(300),
    'x'.repeat(70_000),
    [],
    {},
    [[]],
    [null],
    { __proto__: null, constructor: 1 },
    { $ref: '#' },
  ),
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

/** A value nested this deep in lists or objects. */
export const deep: fc.Arbitrary<unknown> = fc
  .tuple(fc.integer({ min: 20, max: 400 }), fc.boolean())
  .map(([levels, isList]) => {
    let value: unknown = 1
    for (let i = 0; i < levels; i++) value = isList ? [value] : { a: value }
    return value
  })

/** Values that fit a JSON Schema more or less: enough to get past the first checks. */
export class SchemaValues {
  readonly #components: Json

  /** `components`: the schemas that `#/components/schemas/…` refers to. */
  constructor(components: Json) {
    this.#components = components
  }

  of(schema: Json, name = ''): fc.Arbitrary<unknown> {
    const target = this.#resolve(schema)
    const branches = (target['anyOf'] ?? target['oneOf']) as readonly Json[] | undefined
    if (branches) return fc.oneof(...branches.map((branch) => this.of(branch, name)))
    if (Array.isArray(target['enum'])) return fc.constantFrom(...(target['enum'] as unknown[]))
    if ('const' in target) return fc.constant(target['const'])
    switch (target['type']) {
      case 'object':
        return this.#object(target)
      case 'array':
        return fc.array(this.of((target['items'] ?? {}) as Json, name), {
          minLength: 1,
          maxLength: 3,
        })
      case 'string':
        return text(name)
      case 'integer':
        return fc.integer({ min: 0, max: 100_000 })
      case 'number':
        return fc.constantFrom(0, 0.5, 1, 12.34, 0.000001)
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      default:
        return fc.jsonValue({ maxDepth: 2 })
    }
  }

  #object({ properties = {}, required = [] }: Json): fc.Arbitrary<unknown> {
    const fields = Object.entries(properties as Record<string, Json>)
    if (fields.length === 0)
      return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
    return fc.record(
      Object.fromEntries(fields.map(([name, schema]) => [name, this.of(schema, name)])),
      {
        requiredKeys: required as string[],
      },
    )
  }

  #resolve(schema: Json): Json {
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined
    return name === undefined ? schema : this.#resolve(this.#components[name] as Json)
  }
}

/** Text that suits a field of this name. */
const text = (name: string): fc.Arbitrary<string> => {
  if (/_at$|^(from|to)$/.test(name)) return fc.constant('2026-11-20T08:00:00.000Z')
  if (name === 'scorer') return fc.constantFrom('exact_match', 'contains', 'regex_match', 'nope')
  return fc.oneof(
    fc.constantFrom('a', 'payer', 'payments.pay', 'doc:7', '1'),
    fc.string({ minLength: 1, maxLength: 12 }),
  )
}

/** A JSON value with one thing in it changed: a field replaced, dropped, added or renamed. */
export const mutated = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      valid,
      fc.nat(),
      fc.constantFrom('replace', 'drop', 'add', 'rename'),
      fc.oneof({ weight: 6, arbitrary: hostile }, deep),
    )
    .map(([value, where, how, other]) => change(structuredClone(value), where, how, other))

function change(root: unknown, where: number, how: string, other: unknown): unknown {
  const places = containers(root)
  const place = places[where % Math.max(1, places.length)]
  if (!place) return other
  const keys = Object.keys(place)
  const key = keys[where % Math.max(1, keys.length)]
  if (key === undefined || how === 'add')
    return Object.assign(place, { unknown_field: other }) && root
  if (how === 'replace') place[key] = other
  else {
    if (how === 'rename') place[`${key} `] = place[key]
    Reflect.deleteProperty(place, key)
  }
  return root
}

/** Every object and list in a value. */
function containers(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(containers)]
}
