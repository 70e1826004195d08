import { endpoints } from '@remit/contract'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fieldErrors, FOR_FIELD_ERRORS } from './fields.ts'

const errorsOf = (schema: z.ZodType, value: unknown) =>
  fieldErrors(schema.safeParse(value, FOR_FIELD_ERRORS).error?.issues ?? [])

/** The message for one value. */
const said = (schema: z.ZodType, value: unknown) =>
  errorsOf(schema, value).map(({ message }) => message)

describe('a fault says what is taken', () => {
  it.each([
    ['a missing field', z.string(), undefined, 'is required: a string'],
    ['another type', z.string(), 5, 'must be a string, not a number'],
    ['null', z.number(), null, 'must be a number, not null'],
    ['no whole number', z.int(), 1.5, 'must be a whole number'],
    ['text for a flag', z.boolean(), 'yes', 'must be a boolean, not a string'],
    ['a list for a record', z.record(z.string(), z.string()), [], 'must be an object, not a list'],
    ['another value', z.enum(['x', 'y', 'z']), 'a', 'must be x, y or z'],
    ['another literal', z.literal(''), 'a', 'must be ""'],
    ['an empty text', z.string().min(1), '', 'must not be empty'],
    ['a short text', z.string().min(4), 'abc', 'must have at least 4 characters'],
    ['a long text', z.string().max(1), 'ab', 'must have at most 1 character'],
    ['a text of another length', z.string().length(3), 'ab', 'must have 3 characters'],
    ['a long list', z.array(z.int()).max(1), [1, 2], 'must have at most 1 item'],
    ['a number that is too large', z.number().max(10), 11, 'must be at most 10'],
    ['a number that is too small', z.number().min(-1), -2, 'must be at least -1'],
    ['another step', z.number().multipleOf(5), 3, 'must be a multiple of 5'],
    ['another form', z.string().regex(/^a+$/), 'b', 'must match /^a+$/'],
    ['a number beyond its bound', z.int().max(100), 1e20, 'must be at most 100'],
    ['a number beyond all', z.int(), 1e20, 'must be at most 9007199254740991'],
    ['text for a short list', z.array(z.int()).max(2), 'abc', 'must be a list, not a string'],
    ['a rule of ours', z.string().refine(() => false, 'must be nice'), 'b', 'must be nice'],
    ['a length of ours', z.string().max(1, 'must be short'), 'ab', 'must be short'],
  ])('%s', (_, schema, value, message) => {
    expect(said(schema, value)).toEqual([message])
  })

  it('once, where two checks of a field say the same', () => {
    const rule = 'must be a whole number from 1 to 5'

    expect(said(z.int(rule).min(1, rule).max(5, rule), 1e20)).toEqual([rule])
  })
})

describe('a fault says where it is', () => {
  it.each([
    [
      'inside another field',
      z.object({ a: z.object({ b: z.array(z.number()) }) }),
      { a: { b: [1, '2'] } },
      { path: 'a.b.1', message: 'must be a number, not a string' },
    ],
    [
      'an unknown field',
      z.strictObject({ a: z.strictObject({}) }),
      { a: { b: 1 } },
      { path: 'a.b', message: 'is not a known field' },
    ],
    [
      'a name in a record',
      z.record(z.string().max(2, 'must be short'), z.string()),
      { abc: 'x' },
      { path: 'abc', message: 'its name must be short' },
    ],
    [
      'the kind of an object',
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('a') }),
        z.strictObject({ type: z.literal('b') }),
      ]),
      { type: 'c' },
      { path: 'type', message: 'must be a or b' },
    ],
  ])('%s', (_, schema, value, error) => {
    expect(errorsOf(schema, value)).toEqual([error])
  })
})

describe('a union', () => {
  const text = z.string().refine((value) => value !== 'no', 'must not be no')
  const who = z.union([text, z.strictObject({ type: z.string(), id: z.string() })])

  it('says its own sentence where it has one', () => {
    const day = z.union([z.iso.date(), z.iso.datetime()], 'must be a date or a time')

    for (const value of ['2026-11-20T10:00:00', null, 5, undefined])
      expect(said(day, value)).toEqual(['must be a date or a time'])
  })

  it('says every type that it takes', () => {
    expect(said(who, true)).toEqual(['must be a string or an object, not a boolean'])
    expect(said(who, null)).toEqual(['must be a string or an object, not null'])
    expect(said(z.object({ who }), {})).toEqual(['is required: a string or an object'])
    expect(said(z.union([z.literal(''), z.string()]), 5)).toEqual([
      'must be a string, not a number',
    ])
    expect(said(z.union([z.literal('all'), z.int()]), 'some')).toEqual([
      'must be a number or "all", not a string',
    ])
  })

  it('speaks of the branch that was meant', () => {
    expect(errorsOf(z.object({ who }), { who: { type: 'user' } })).toEqual([
      { path: 'who.id', message: 'is required: a string' },
    ])
    expect(said(who, 'no')).toEqual(['must not be no'])
  })

  it('means the branch that knows all the fields', () => {
    const test = z.union([
      z.strictObject({ claim: z.string(), equals: z.string() }),
      z.strictObject({ claim: z.string(), in: z.array(z.string()) }),
    ])

    expect(errorsOf(test, { claim: 'a', in: 5 })).toEqual([
      { path: 'in', message: 'must be a list, not a number' },
    ])
  })
})

describe('the fields of the contract', () => {
  const WRONG: readonly unknown[] = [
    true,
    null,
    1.5,
    -1,
    1e20,
    '',
    ' ',
    'x',
    'x'.repeat(70_000),
    [],
    [5],
    [''],
    [{}],
    [[]],
    {},
    { '': 5 },
    { a: {} },
    { type: 'x' },
    { labels: 5 },
    Array.from({ length: 11_000 }, (_, i) => `${i}`),
  ]
  const TAKEN = { io: 'input', unrepresentable: 'any' } as const
  const shapes = Object.entries(endpoints).flatMap(([name, { body, params, query }]) =>
    [body, params, query].flatMap((schema) =>
      schema instanceof z.ZodObject ? [[name, schema] as const] : [],
    ),
  )

  it.each(shapes)('of %s are refused in words of this API', (_, { shape }) => {
    for (const [field, schema] of Object.entries(shape)) {
      for (const value of WRONG) {
        for (const message of said(schema as z.ZodType, value)) {
          expect(message, field).not.toMatch(/^[A-Z]|Invalid|expected|\b(?:int|record)\b|\|/)
          expect(message, field).not.toBe('is not valid')
        }
      }
    }
  })

  const numbers = Object.entries(endpoints).flatMap(([name, { body, params, query }]) =>
    ([body, params, query] as const).flatMap((schema) => {
      const fields = schema instanceof z.ZodObject ? Object.entries(schema.shape) : []
      return fields.flatMap(([field, one]) => {
        const { type, minimum, maximum } = z.toJSONSchema(one as z.ZodType, TAKEN)
        const isText = schema !== body
        return type === 'integer'
          ? [[name, field, one as z.ZodType, minimum!, maximum!, isText] as const]
          : []
      })
    }),
  )

  it.each(numbers)(
    'of %s: %s says its range, whatever is wrong',
    (_, __, schema, minimum, maximum, isText) => {
      for (const value of [minimum - 1, maximum * 2 + 1, 0.5, 'x', '']) {
        expect(said(schema, isText ? `${value}` : value)).toEqual([
          `must be a whole number from ${minimum} to ${maximum}`,
        ])
      }
    },
  )
})
