import fc from 'fast-check'
import type { Json, JsonObject } from '@remit/contract/fit'

/** A condition in a documented form, and its result by the definition of CEL, without any limit. */
export interface Form {
  readonly text: string
  readonly says: (context: JsonObject) => Result
}
export type Result = boolean | 'error'

const isMap = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path; undefined is an error. Null counts as missing. */
function read(context: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = context
  for (const name of path.split('.').slice(1))
    value = isMap(value) && Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined
  return value
}

const both = (a: Result, b: Result, settling: boolean): Result => {
  if (a === settling || b === settling) return settling
  return a === 'error' || b === 'error' ? 'error' : !settling
}
const not = (a: Result): Result => (a === 'error' ? a : !a)

const PATHS = [
  ...['amount', 'to', 'memo', 'rows', 'list', 'a', 'a.b', 'a.b.c'].map(
    (name) => `context.args.${name}`,
  ),
  ...['amount_usd', 'tool', 'guard.flagged', 'args', 'note', 'note.a'].map(
    (name) => `context.${name}`,
  ),
]
const path = fc.constantFrom(...PATHS)
const number = fc.constantFrom(0, 3, 1000)
const word = fc.constantFrom('x', 'pay', 'EVIL', 'memo', 'amount')

const above: fc.Arbitrary<Form> = fc.tuple(path, number).map(([of, limit]) => ({
  text: `${of} > ${limit}`,
  says: (context) => {
    const value = read(context, of)
    return typeof value === 'number' ? value > limit : 'error'
  },
}))
const equal: fc.Arbitrary<Form> = fc
  .tuple(path, fc.oneof(number, word, fc.boolean()))
  .map(([of, wanted]) => ({
    text: `${of} == ${typeof wanted === 'string' ? `'${wanted}'` : wanted}`,
    says: (context) => {
      const value = read(context, of)
      return value === undefined ? 'error' : value === wanted
    },
  }))
const has: fc.Arbitrary<Form> = path.map((of) => ({
  text: `has(${of})`,
  says: (context) => {
    const dot = of.lastIndexOf('.')
    const outer = read(context, of.slice(0, dot))
    return isMap(outer) ? read(outer, of.slice(dot)) !== undefined : 'error'
  },
}))
const within: fc.Arbitrary<Form> = fc.tuple(word, path).map(([item, of]) => ({
  text: `'${item}' in ${of}`,
  says: (context) => {
    const value = read(context, of)
    if (Array.isArray(value)) return (value as Json[]).includes(item)
    return isMap(value) ? read(value, `.${item}`) !== undefined : 'error'
  },
}))
const starts: fc.Arbitrary<Form> = fc
  .tuple(path, word, fc.constantFrom('startsWith', 'contains', 'endsWith'))
  .map(([of, part, test]) => ({
    text: `${of}.${test}('${part}')`,
    says: (context) => {
      const value = read(context, of)
      if (typeof value !== 'string') return 'error'
      if (test === 'contains') return value.includes(part)
      return test === 'startsWith' ? value.startsWith(part) : value.endsWith(part)
    },
  }))
const sized: fc.Arbitrary<Form> = fc.tuple(path, number).map(([of, limit]) => ({
  text: `size(${of}) > ${limit}`,
  says: (context) => {
    const value = read(context, of)
    if (typeof value === 'string') return Array.from(value).length > limit
    if (Array.isArray(value)) return value.length > limit
    return isMap(value)
      ? Object.values(value).filter((member) => member !== null).length > limit
      : 'error'
  },
}))
const some: fc.Arbitrary<Form> = fc
  .tuple(path, number, fc.constantFrom('exists', 'all'))
  .map(([of, limit, loop]) => ({
    text: `${of}.${loop}(one, one.price > ${limit})`,
    says: (context) => {
      const value = read(context, of)
      if (isMap(value))
        return Object.values(value).some((member) => member !== null) ? 'error' : loop === 'all'
      if (!Array.isArray(value)) return 'error'
      const results = (value as Json[]).map((item): Result => {
        const price = isMap(item) ? item['price'] : undefined
        return typeof price === 'number' ? price > limit : 'error'
      })
      return results.reduce((a, b) => both(a, b, loop === 'exists'), loop === 'all')
    },
  }))

const one = fc.oneof(above, above, equal, has, has, within, starts, sized, some)

/** Conditions as the documentation writes them. */
export const form: fc.Arbitrary<Form> = fc.oneof(
  { weight: 2, arbitrary: one },
  {
    weight: 4,
    arbitrary: fc.tuple(one, one, fc.boolean()).map(([a, b, settling]) => ({
      text: `${a.text} ${settling ? '||' : '&&'} ${b.text}`,
      says: (context: JsonObject) => both(a.says(context), b.says(context), settling),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(has, above).map(([a, b]) => ({
      text: `!${a.text} || ${b.text}`,
      says: (context: JsonObject) => both(not(a.says(context)), b.says(context), true),
    })),
  },
  {
    weight: 1,
    arbitrary: one.map(({ text, says }) => ({
      text: `!(${text})`,
      says: (context: JsonObject) => not(says(context)),
    })),
  },
)

const nested = (levels: number, core: Json): Json => {
  let value = core
  for (let level = 0; level < levels; level++) value = level % 3 === 2 ? { a: value } : [value]
  return value
}
const times = <T>(length: number, make: (i: number) => T): T[] =>
  Array.from({ length }, (_, i) => make(i))

const small: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(
  null,
  true,
  0,
  5,
  1005,
  -1,
  'x',
  'EVIL',
  '1005',
  '',
  [],
  ['x', 'EVIL'],
  [{ price: 5 }, { price: 2000 }],
  { b: { c: 5 } },
  { b: 'x', amount: 1005 },
  { length: 3, sha256: 'aa' },
  [[1], { price: null }],
)
const count = fc.integer({ min: 1, max: 2_200 })
const large: fc.Arbitrary<Json> = fc.oneof(
  fc.tuple(fc.integer({ min: 25, max: 60 }), small).map(([levels, core]) => nested(levels, core)),
  count.map((length) => times(length, (i) => ({ price: i, sku: `A${i}`, qty: 1 }))),
  count.map((length) => [...times(length, (i) => `${i} EVIL`), 'EVIL', 'x']),
  fc.tuple(count, small).map(([length, inner]) => ({
    ...Object.fromEntries(times(length, (i) => [`n${i}`, i])),
    a: inner,
    b: { c: 5 },
    amount: 1005,
    EVIL: true,
  })),
  fc.integer({ min: 100, max: 90_000 }).map((length) => 'EVIL'.padEnd(length, 'x')),
  count.map((length) => times(Math.ceil(length / 30), (i) => `${i}`.padEnd(2_500, 'ü'))),
  fc
    .tuple(count, small)
    .map(([length, core]) => times(Math.ceil(length / 10), () => nested(33, core))),
)
const anything = fc.oneof({ weight: 3, arbitrary: small }, { weight: 2, arbitrary: large })

/** Contexts as gates and hooks make them, deep, wide, large and odd. */
export const largeContext: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      args: fc.oneof(
        {
          weight: 8,
          arbitrary: fc.dictionary(
            fc.constantFrom(
              'amount',
              'to',
              'memo',
              'rows',
              'list',
              'a',
              'other',
              '__proto__',
              'a/b~',
            ),
            anything,
            { maxKeys: 6 },
          ),
        },
        { weight: 1, arbitrary: anything },
      ),
      amount_usd: fc.oneof(small, fc.constant(1005)),
      tool: fc.constant('pay'),
      guard: fc.record({ flagged: fc.boolean() }),
      note: anything,
    },
    { requiredKeys: ['args', 'tool'] },
  )
  // As a reader of JSON makes it: ordinary objects whose members are all their own.
  .map((context) => JSON.parse(JSON.stringify(context)) as JsonObject)

export const someForms = (length: number): Form[] => fc.sample(form, length)
export const someLargeContexts = (length: number): JsonObject[] => fc.sample(largeContext, length)
