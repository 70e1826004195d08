import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@remit/testing/pure'
import { describeWithData, readData, readDataJson } from '../shared-data.ts'
import { canonicalJson, parseStrictJson, StrictJsonError } from '@remit/contract/json'
import { canonical as textOfGates } from '@remit/contract/fit'
import type { StrictJsonOptions } from '@remit/contract/json'

const bytesOf = (text: string) => new TextEncoder().encode(text)

function refusal(bytes: Uint8Array | string, options?: StrictJsonOptions): StrictJsonError {
  try {
    parseStrictJson(typeof bytes === 'string' ? bytesOf(bytes) : bytes, options)
  } catch (error) {
    if (error instanceof StrictJsonError) return error
    throw error
  }
  throw new Error('was accepted')
}

describeWithData('jcs')('the published admission vectors', () => {
  test('everything that is exact is accepted and has its canonical text', () => {
    const accepted = readDataJson('jcs/accept.json') as {
      name: string
      input: string
      canonical: string
    }[]

    expect(accepted).toHaveLength(19)
    for (const { input, canonical } of accepted) {
      expect(canonicalJson(parseStrictJson(bytesOf(input)))).toBe(canonical)
    }
  })

  test('everything that another reader could read differently is refused', () => {
    const refused = readDataJson('jcs/reject.json') as { name: string; raw_base64: string }[]

    expect(refused).toHaveLength(31)
    // A decimal of more digits than a double has, which every reader reads as the same double.
    const strict = refused.filter(({ name }) => name !== 'dec-not-exact')
    for (const { name, raw_base64: raw } of strict) {
      const { reason } = refusal(Buffer.from(raw, 'base64'))

      expect(`${name}: ${reason}`).toMatch(/: (?:The|This) .+/)
    }
  })

  test('documents of the serializer are read', () => {
    for (const name of ['arrays', 'french', 'structures', 'unicode', 'values', 'weird']) {
      const bytes = readData(`jcs/input/${name}.json`)

      expect(parseStrictJson(bytes)).toEqual(JSON.parse(bytes.toString('utf8')))
    }
  })
})

describe('numbers', () => {
  test.each(['0', '-0', '1E30', '1.50', '1E2', '-9007199254740991', '5e-324', '0.1', '1e21'])(
    '%s survives and is accepted',
    (literal) => {
      expect(parseStrictJson(bytesOf(`[${literal}]`))).toEqual([Number(literal)])
    },
  )

  test.each([
    '1.7976931348623157e308',
    '2.2250738585072014e-308',
    '123456789.12345678',
    '0.000000000000000000000000001',
    '0.0e-999',
  ])('%s survives although it is long', (literal) => {
    expect(parseStrictJson(bytesOf(`{"n":${literal}}`))).toEqual({ n: Number(literal) })
  })

  test.each([
    // 17 digits, where fewer name the same double.
    '79.989999999999995',
    '0.10000000000000001',
    '1.8446744073709552e+19',
    '2.0000000000000000e+20',
    // More digits than any double has.
    '3.14159265358979323846',
    '123456789.123456789',
    '0.30000000000000000001',
    '-1000.0000000000000001',
    '4.9e-324',
  ])('%s is the nearest double, as for every reader', (literal) => {
    expect(parseStrictJson(bytesOf(`{"n":${literal}}`))).toEqual({ n: Number(literal) })
  })

  test.each([
    '9007199254740992',
    '-9007199254740992.0',
    '9007199254740994',
    '1152921504606846976',
    '-9223372036854775808',
    '18446744073709551616',
    '18446744073709551616.0',
    '1e20',
    '100000000000000000000',
    '340282366920938463463374607431768211456',
  ])('%s is exactly a double', (literal) => {
    expect(parseStrictJson(bytesOf(`{"n":${literal}}`))).toEqual({ n: Number(literal) })
  })

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '9007199254740993.0',
    '9007199254740993e0',
    '9223372036854775807',
    '12345678901234567890',
    // As a program prints an identifier that it has rounded.
    '725653563933458400',
    '18446744073709552000',
    '1000000000000000000000000000000',
  ])('%s is an integer that would change', (literal) => {
    expect(refusal(`{"n":[${literal}]}`)).toMatchObject({
      code: 'inexact_number',
      reason: `The integer ${literal} is not exact as a 64-bit float; send it as a string.`,
    })
  })

  test.each(['1e309', '-1E400', '-2e308', '1.7976931348623159e308'])(
    '%s would become infinite',
    (literal) => {
      expect(refusal(`{"n":[${literal}]}`)).toMatchObject({
        code: 'inexact_number',
        reason: `The number ${literal} is beyond the range of a 64-bit float; send it as a string.`,
      })
    },
  )

  test.each(['1e-324', '-0.1e-400'])('%s would become zero', (literal) => {
    expect(refusal(`{"n":[${literal}]}`)).toMatchObject({
      code: 'inexact_number',
      reason: `The number ${literal} is too small for a 64-bit float; send 0, or the number as a string.`,
    })
  })

  test('what encoders write of a double is read as that double', () => {
    const large = fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }).map(Number)
    const numbers = fc.oneof(
      large,
      fc.double({ noDefaultInfinity: true, noNaN: true }).map((one) => one + 0),
    )
    fc.assert(
      fc.property(numbers, (number) => {
        const written = [
          textOfGates(number),
          number.toPrecision(17),
          number.toExponential(16),
          number.toExponential(),
        ]
        if (!Number.isInteger(number)) written.push(String(number))
        else if (Math.abs(number) < 2 ** 64) written.push(String(BigInt(number)))
        for (const literal of written) expect(attempt(`[${literal}]`), literal).toEqual([number])
      }),
      { numRuns: runs(2000) },
    )
  })

  test('a number of a megabyte is refused without being echoed in full', () => {
    const error = refusal(`[${'1'.repeat(1_000_000)}]`)

    expect(error.code).toBe('inexact_number')
    expect(error.reason.length).toBeLessThan(120)
  })

  test('numbers inside strings are left alone', () => {
    expect(parseStrictJson(bytesOf('["9007199254740993","1e999"]'))).toHaveLength(2)
  })
})

describe('names', () => {
  test('a duplicate is named, also when it is written with an escape', () => {
    expect(refusal('{"x":{"a":1},"y":[{"a":1,"b":2,"\\u0061":3}]}').reason).toBe(
      'The name "a" appears twice in one object.',
    )
  })

  test('the same name in different objects is no duplicate', () => {
    const text = '{"a":{"a":{"a":[{"a":1},{"a":":"}]}}}'

    expect(canonicalJson(parseStrictJson(bytesOf(text)))).toBe(text)
  })

  test('colons, brackets, quotes and backslashes inside strings do not count', () => {
    const text = '{"a:b":"c:{[\\"\\\\","\\\\":":","d\\":":"}]"}'

    expect(canonicalJson(parseStrictJson(bytesOf(text)))).toBe(
      '{"\\\\":":","a:b":"c:{[\\"\\\\","d\\":":"}]"}',
    )
  })

  test('an escaped quote does not end a string', () => {
    const text = '{"k":"\\":{"}'

    expect(parseStrictJson(bytesOf(text), { maxDepth: 1 })).toEqual({ k: '":{' })
  })

  test('__proto__ is an ordinary own name', () => {
    const value = parseStrictJson(bytesOf('{"__proto__":{"polluted":true}}')) as object

    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })
})

describe('names that end in a backslash', () => {
  // V8 guesses where all objects that it has met with the names before it go on with the same.
  const textAfter = (name: string) =>
    String.raw`{"a":{"${name}":0,"x\\":1},"b":{"${name}":0,"x\n":2}}`
  const probe = textAfter('probe')
  const isMisread = JSON.stringify(JSON.parse(probe)) !== probe

  test.runIf(isMisread)('another name that the engine takes for one is refused', () => {
    expect(refusal(textAfter('never seen')).code).toBe('misread_name')
  })

  test.each([
    String.raw`{"x\\":1}`,
    String.raw`[{"x\\":1},{"x\\":{"y":"\\"}}]`,
    String.raw`{"x\n":"x\\","1":2,"\"":[{"\\\\":0}]}`,
  ])('is a name like any other: %s', (text) => {
    expect(JSON.stringify(parseStrictJson(bytesOf(text))).length).toBe(text.length)
  })

  test('is one however it is spelled', () => {
    const text = String.raw`{"\u005c":{"\u005C":"\u005d"},"a\u005cu":{"u005c":1},"\\u005c":2}`

    expect(parseStrictJson(bytesOf(text))).toEqual(JSON.parse(text))
  })
})

describe('characters', () => {
  test.each(['{"s":"\\ud83d"}', '{"\\udc00":1}', '[["a",{"k":"\\ude00\\ud83d"}]]'])(
    'half a pair is refused: %s',
    (text) => {
      expect(refusal(text).code).toBe('lone_surrogate')
    },
  )

  test('a whole pair written with escapes is accepted', () => {
    expect(parseStrictJson(bytesOf('["\\ud83d\\ude00"]'))).toEqual(['😀'])
  })

  test('U+0000 is refused on request only', () => {
    const texts = ['{"s":"a\\u0000"}', '{"\\u0000":1}', '[{"a":["\\u0000"]}]']

    for (const text of texts) {
      expect(refusal(text, { refuseNul: true }).code).toBe('nul_character')
      expect(parseStrictJson(bytesOf(text))).toEqual(JSON.parse(text))
    }
  })

  test('an escaped backslash before u0000 is not U+0000', () => {
    const value = parseStrictJson(bytesOf('["\\\\u0000\\u0041"]'), { refuseNul: true })

    expect(value).toEqual(['\\u0000A'])
  })

  test('a view into a larger buffer reads its own bytes only', () => {
    const whole = bytesOf('xx{"a":1}yy')

    expect(parseStrictJson(whole.subarray(2, 9))).toEqual({ a: 1 })
  })
})

describe('depth', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

  test('64 levels are read, 65 are not', () => {
    expect(parseStrictJson(bytesOf(nested(64)))).toEqual(JSON.parse(nested(64)))
    expect(refusal(nested(65)).code).toBe('too_deep')
  })

  test('the limit is the caller’s to set', () => {
    expect(refusal('{"a":{"b":{}}}', { maxDepth: 2 }).code).toBe('too_deep')
    expect(parseStrictJson(bytesOf('{"a":{},"b":{}}'), { maxDepth: 2 })).toEqual({ a: {}, b: {} })
  })

  test('a million levels are refused, not overflowed', () => {
    expect(refusal(nested(1_000_000)).code).toBe('too_deep')
    expect(refusal('{"a":'.repeat(1_000_000)).code).toBe('too_deep')
  })
})

test('a number of a hundred thousand digits is judged in one pass', () => {
  // A pattern that tries each zero as the beginning of the last ones would take minutes.
  const literal = `1.${'0'.repeat(400_000)}1`

  expect(parseStrictJson(bytesOf(`[${literal}]`))).toEqual([1])
  expect(parseStrictJson(bytesOf(`[${literal.slice(0, -1)}]`))).toEqual([1])
  expect(refusal(`[${literal.replace('.', '')}]`).code).toBe('inexact_number')
})

describe('limits', () => {
  const limits = { parts: 6, names: 3, values: 4 }
  const within = [
    '{"a":{"b":1},"c":[1,2]}',
    '[{"a":1},{"a":2},[]]',
    '["a:b,{[","\\"","{{{{{{{{"]',
    '{"a":1,"b":2,"c":3}',
  ]
  test.each(within)('what is within them is read: %s', (text) => {
    expect(parseStrictJson(bytesOf(text), { limits })).toEqual(JSON.parse(text))
  })

  test.each([
    ['arrays and objects', '[[],{},[],{},[],[]]', '6 names, arrays and objects'],
    ['names', '{"a":{"a":{"a":{"a":1}}}}', '6 names, arrays and objects'],
    ['different names', '{"a":1,"b":2,"c":3,"d":4}', '3 different names'],
    ['values', '[1,2,3,4,5,6]', '4 values'],
  ])('too many %s are refused', (_, text, said) => {
    expect(refusal(text, { limits })).toMatchObject({
      code: 'too_many_parts',
      reason: `The text must not have more than ${said}.`,
    })
  })

  test('refuse before anything is built', () => {
    // Everything that is built from is read as a text first, and this one cannot be: it is no JSON.
    const text = `{${'"a":1,'.repeat(1000)}`

    expect(refusal(text, { limits }).code).toBe('too_many_parts')
    expect(refusal(text).code).toBe('not_json')
  })
})

describe('the text as a whole', () => {
  test.each<[string, string, string]>([
    ['a scalar', '"x"', 'not_a_container'],
    ['null', 'null', 'not_a_container'],
    ['nothing', '', 'not_json'],
    ['an open string', '{"a":"', 'not_json'],
    ['a string that ends in a backslash', '{"a\\', 'not_json'],
    ['a comment', '{"a":1/*x*/}', 'not_json'],
    ['a lone minus', '[-]', 'not_json'],
    ['a second value', '{} {}', 'not_json'],
    ['a byte order mark', '\ufeff{}', 'byte_order_mark'],
  ])('%s is refused', (_, text, code) => {
    expect(refusal(text).code).toBe(code)
  })

  test('whatever is accepted is accepted again in its canonical form, unchanged', () => {
    const json = fc.json({ stringUnit: 'binary', maxDepth: 8 })
    fc.assert(
      fc.property(json, (inner) => {
        const text = `[${inner}]`
        const value = attempt(text)
        fc.pre(value !== REFUSED)
        const canonical = canonicalJson(value)
        // The canonical form of a large integer has no more digits than name the double.
        fc.pre(!/\d{17}/.test(canonical))

        expect(canonicalJson(attempt(canonical))).toBe(canonical)
        expect(value).toEqual(JSON.parse(text))
      }),
    )
  })

  test('characters at random are read as JSON.parse reads them, or refused in order', () => {
    const alphabet = fc.constantFrom(...Array.from('{}[]:,"\\u0e1.-+E \n'))
    fc.assert(
      fc.property(fc.string({ unit: alphabet, maxLength: 40 }), (text) => {
        const value = attempt(text)

        return value === REFUSED || isDeepStrictEqual(value, JSON.parse(text))
      }),
      { numRuns: runs(2000) },
    )
  })
})

const REFUSED = Symbol('refused')

function attempt(text: string): unknown {
  try {
    return parseStrictJson(bytesOf(text))
  } catch (error) {
    if (error instanceof StrictJsonError) return REFUSED
    throw error
  }
}
