import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '@remit/testing/pure'
import { code, entry, score } from './support.ts'

describe('json_valid', () => {
  it.each([
    ['1', 1],
    ['"a"', 1],
    ['null', 1],
    ['{"a":[1,{}]}', 1],
    [' [1]\n', 1],
    ['{"a":1,"a":2}', 1],
    ['', 0],
    ['NaN', 0],
    ['{"a":1,}', 0],
    ["{'a':1}", 0],
    ['\ufeff{}', 0],
    ['01', 0],
    ['{} {}', 0],
    ['// c\n{}', 0],
    ['[1] trailing', 0],
  ])('follows RFC 8259: %j', async (output, wanted) => {
    expect(await score('json_valid', { output })).toBe(wanted)
  })

  it('asks for an object or array where told to', async () => {
    expect(await score('json_valid', { output: '{}' }, { type: 'object' })).toBe(1)
    expect(await score('json_valid', { output: '[]' }, { type: 'object' })).toBe(0)
    expect(await score('json_valid', { output: 'null' }, { type: 'object' })).toBe(0)
    expect(await score('json_valid', { output: [] }, { type: 'array' })).toBe(1)
    expect(await score('json_valid', { output: null })).toBe(1)
    expect(await code('json_valid', {})).toBe('missing_field')
  })

  const fenced = (inner: string, open = '```json', close = '```') => `${open}\n${inner}\n${close}`

  it.each([
    ['a fence', fenced('{"a":1}'), 1],
    ['a fence without a label, with white space around', `\n ${fenced('{"a":1}', '```')}\n`, 1],
    ['tildes', fenced('{"a":1}', '~~~', '~~~~'), 1],
    ['a fence inside a string', '{"code":"```js\\nx\\n```"}', 1],
    ['a fence inside a string inside a fence', fenced('{"code":"```js\\nx\\n```"}'), 1],
    ['no fence', '{"a":1}', 1],
    ['text before the fence', `Here:\n${fenced('{"a":1}')}`, 0],
    ['two fences', `${fenced('{}')}\n${fenced('{}')}`, 0],
    ['a fence that does not end', '```json\n{}', 0],
    ['another closing fence', fenced('{}', '```', '~~~'), 0],
  ])('takes a fence off a text that is one block: %s', async (_, output, wanted) => {
    expect(await score('json_valid', { output }, { extract: 'fence' })).toBe(wanted)
  })

  it('does not take a fence off unless told to', async () => {
    expect(await score('json_valid', { output: fenced('{}') })).toBe(0)
  })

  it('has no score for what is nested too deep to be walked', async () => {
    const output = '['.repeat(40_000) + ']'.repeat(40_000)

    expect(await code('json_valid', { output })).toBe('limit_exceeded')
    expect(await score('json_valid', { output: '['.repeat(1_000) + ']'.repeat(1_000) })).toBe(1)
    expect(await code('json_valid', { output: '['.repeat(1_001) + ']'.repeat(1_001) })).toBe(
      'limit_exceeded',
    )
  })
})

describe('json_schema', () => {
  const satisfies = (output: unknown, schema: unknown, more = {}) =>
    score('json_schema', { output }, { schema, ...more })

  it.each([
    [{ required: ['toString'] }, '{}', 0],
    [{ required: ['toString'] }, '{"toString":1}', 1],
    [{ properties: { constructor: { type: 'number' } } }, '{}', 1],
    [{ properties: { a: {} }, additionalProperties: false }, '{"constructor":1}', 0],
    [{ const: { constructor: {} } }, '{"constructor":{}}', 1],
    [{ enum: [{ valueOf: 1 }, 2] }, '{"valueOf":1}', 1],
    [{ enum: [1, '1'] }, 'true', 0],
    [{ uniqueItems: true }, '[{"valueOf":1},{"valueOf":1}]', 0],
    [{ uniqueItems: true }, '[{"a":1,"b":2},{"b":2,"a":1}]', 0],
    [{ uniqueItems: true }, '[1,"1",true,null,{"valueOf":1},{"valueOf":2}]', 1],
    [{ uniqueItems: false }, '[1,1]', 1],
    [{ minLength: 2 }, '"😀"', 0],
    [{ prefixItems: [{ type: 'string' }], items: false }, '["a",1]', 0],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, '[1]', 0],
    [{ $defs: { n: { type: 'integer' } }, $ref: '#/$defs/n' }, '1.0', 1],
    [{ multipleOf: 0.01 }, '19.99', 1],
    [{ multipleOf: 0.01 }, '0.29', 1],
    [{ multipleOf: 0.01 }, '-19.99', 1],
    [{ multipleOf: 0.01 }, '19.995', 0],
    [{ multipleOf: 0.01 }, '1e300', 1],
    [{ multipleOf: 1 }, '1e21', 1],
    [{ multipleOf: 7 }, '1e21', 0],
    [{ multipleOf: 3 }, '-9', 1],
    [{ multipleOf: 2.5 }, '7.5', 1],
    [{ multipleOf: 1e-7 }, '3e-7', 1],
    [{ multipleOf: 5e-324 }, '1.5', 1],
    [{ multipleOf: 1e300 }, '0', 1],
    [{ multipleOf: 2 }, '"1"', 1],
    [{ format: 'email' }, '"no address"', 1],
    [{ type: ['object', 'null'] }, 'null', 1],
    [true, '1', 1],
    [false, '1', 0],
    [{}, 'not json', 0],
    [{ unevaluatedProperties: false, properties: { a: {} } }, '{"b":1}', 0],
  ])('%j: %s', async (schema, output, wanted) => {
    expect(await satisfies(output, schema)).toBe(wanted)
  })

  it('takes a value that is not text as it is, and an explicit null as a value', async () => {
    expect(await satisfies({ a: 1 }, { type: 'object' })).toBe(1)
    expect(await satisfies(null, { type: 'null' })).toBe(1)
    expect(await satisfies('```json\n1\n```', { type: 'number' }, { extract: 'fence' })).toBe(1)
  })

  it('keeps several patterns of one schema apart', async () => {
    const schema = {
      properties: { a: { pattern: '^a+$' }, b: { pattern: '^b+$' } },
      patternProperties: { '^x-': { type: 'string' } },
    }

    expect(await satisfies('{"a":"aa","b":"bb"}', schema)).toBe(1)
    expect(await satisfies('{"a":"aa","b":"aa"}', schema)).toBe(0)
    expect(await satisfies('{"x-1":1}', schema)).toBe(0)
  })

  it('matches patterns in time linear in the text', async () => {
    const output = JSON.stringify(`${'a'.repeat(50_000)}!`)
    const took = await cpuMsOf(async () =>
      expect(await satisfies(output, { pattern: '^(a+)+$' })).toBe(0),
    )

    expect(took).toBeLessThan(2_000)
  })

  it.each([
    ['itself', { $ref: '#' }],
    ['itself, for what it is not', { not: { $ref: '#' } }],
    [
      'another part that leads back',
      {
        $ref: '#/$defs/a',
        $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ $ref: '#/$defs/a' }] } },
      },
    ],
  ])('has no score from a schema that asks %s about the same value', async (_, schema) => {
    expect(await entry('json_schema', { output: '{}' }, { schema })).toMatchObject({
      score: null,
      reason: 'the schema has an infinite reference loop',
      error: { code: 'limit_exceeded' },
    })
  })

  it('follows a schema that refers to itself as far as the value goes', async () => {
    const schema = { type: 'array', items: { $ref: '#' } }

    expect(await satisfies('['.repeat(1_000) + ']'.repeat(1_000), schema)).toBe(1)
    expect(await satisfies(`${'['.repeat(999)}1${']'.repeat(999)}`, schema)).toBe(0)
  })

  it('says where the fault is', async () => {
    const schema = { properties: { a: { items: { type: 'string' } } } }

    expect(await entry('json_schema', { output: '{"a":["x",1]}' }, { schema })).toMatchObject({
      score: 0,
      reason: 'output does not satisfy the schema: /a/1 must be string',
      metadata: { path: '/a/1', keyword: 'type' },
    })
  })

  const nested = (levels: number): object => (levels === 0 ? {} : { not: nested(levels - 1) })
  it.each([
    ['a schema elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a wrong keyword', { type: 'strnig' }],
    ['a pattern that RE2 lacks', { pattern: '(?=a)' }],
    ['a draft that is not supported', { $schema: 'http://json-schema.org/draft-04/schema#' }],
    ['more than 32 KB', { enum: ['a'.repeat(33_000)] }],
    ['very many levels', nested(300)],
    ['a reference that leads nowhere', { $ref: '#/$defs/none' }],
    [
      'references in a circle',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ['a promise instead of a verdict', { $async: true, type: 'string' }],
    ['a promise in a part of it', { properties: { a: { $async: true } } }],
    [
      'a promise that a reference leads to',
      { $ref: '#/x', x: { $dynamicAnchor: 'x', $async: true } },
    ],
    ['an array', [1]],
    ['a text', '{}'],
  ])('refuses the request for %s', async (_, schema) => {
    await expect(satisfies('{}', schema)).rejects.toMatchObject({
      code: 'invalid_params',
      status: 400,
      extras: { errors: [expect.objectContaining({ path: 'params.schema' })] },
    })
  })

  it('never lets one schema refer to that of another request', async () => {
    const $id = 'https://example.com/secret'
    expect(await satisfies('1', { $id, type: 'number' })).toBe(1)
    expect(await satisfies('1', { $id, type: 'string' })).toBe(0)

    await expect(satisfies('1', { $ref: $id })).rejects.toMatchObject({ code: 'invalid_params' })
  })
})

describe('json_diff', () => {
  const like = (output: unknown, expected: unknown, params = {}) =>
    score('json_diff', { output, expected }, params)

  it.each([
    [true, false, 0],
    ['1', 1, 0],
    [1, true, 0],
    [{}, {}, 1],
    [[], [], 1],
    [{}, [], 0],
    [null, null, 1],
    [{ a: null }, {}, 1],
    [{ a: 1 }, {}, 0],
    [{ constructor: 1 }, {}, 0],
    [{}, { toString: 1 }, 0],
    [{ a: '{"b":1}' }, { a: { b: 1 } }, 0],
    [1e308, -1e308, 0],
    [{ a: 1e308 }, { a: -1e308 }, 0],
    [0, 0, 1],
    [1, 3, 0.5],
    [-1, 1, 0],
    [[1, [2]], [1, [2]], 1],
    ['{"a":1}', { a: 1 }, 1],
    ['text', 'test', 0.75],
  ])('compares by value: %j with %j', async (output, expected, wanted) => {
    expect(await like(output, expected)).toBeCloseTo(wanted, 12)
  })

  it('follows autoevals where it differs, when told to', async () => {
    const compat = { compat: 'autoevals' }

    expect(await like(true, false, compat)).toBeCloseTo(0.2, 9)
    expect(await like('1', 1, compat)).toBeCloseTo(1 / 3, 9)
    expect(await like({ a: '{"b":1}' }, { a: { b: 1 } }, compat)).toBe(1)
    expect(await like({ a: { c: 1, b: 2 } }, { a: [1] }, compat)).toBeCloseTo(1 / 13, 9)
    expect(await like({ n: 1e308 }, { n: -1e308 }, compat)).toBe(0)
  })

  it('pairs the items of an array in the best way when order does not count', async () => {
    const [output, expected] = [
      [{ a: 1 }, { b: 'xyz' }, 5],
      [5, { b: 'xyy' }, { a: 1 }],
    ]

    expect(await like(output, expected, { array_mode: 'unordered' })).toBeCloseTo(
      (1 + 1 + 2 / 3) / 3,
      9,
    )
    expect(await like([], [1], { array_mode: 'unordered' })).toBe(0)
    const long = Array.from({ length: 301 }, (_, at) => at)
    expect(
      await code('json_diff', { output: long, expected: [1] }, { array_mode: 'unordered' }),
    ).toBe('limit_exceeded')
  })

  it('leaves out names at any depth', async () => {
    const output = { id: 1, at: { id: 2, x: 1 } }

    expect(await like(output, { id: 9, at: { x: 1 } }, { ignore_keys: ['id'] })).toBe(1)
    expect(await like({ id: 1 }, { id: 2 }, { ignore_keys: ['id'] })).toBe(1)
  })

  it('compares texts and numbers exactly when told to', async () => {
    expect(await like({ a: 'text', b: 2 }, { a: 'test', b: 2 }, { string_mode: 'exact' })).toBe(0.5)
    expect(await like([1, 2], [1, 3], { number_mode: 'exact' })).toBe(0.5)
  })

  it('has no score for what is nested too deep or too long to compare', async () => {
    const deep = '['.repeat(5_000) + ']'.repeat(5_000)

    expect(await code('json_diff', { output: deep, expected: deep })).toBe('limit_exceeded')
    const long = { a: 'a'.repeat(60_000) }
    expect(await code('json_diff', { output: long, expected: { a: 'b' } })).toBe('limit_exceeded')
    expect(await code('json_diff', { output: { a: 1 } })).toBe('missing_field')
    expect(await score('json_diff', { output: null, expected: null })).toBe(1)
  })
})
