import { canonicalJson } from '@remit/contract/json'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonical, JsonError, parseJson } from '../src/jcs.ts'

describe('canonical JSON', () => {
  test('is what the server writes, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(text.isWellFormed())
        expect(canonical(JSON.parse(text))).toBe(canonicalJson(JSON.parse(text)))
      }),
    )
  })

  test('sorts names by UTF-16 code units, and prints numbers as ECMAScript does', () => {
    const value = {
      '\ufb33': 1,
      '😀': 1e30,
      a: [4.5, 0.002, -0, 1e21, 1e-7],
      '': '\u0007"\\/\u2028',
    }

    expect(canonical(value)).toBe(
      '{"":"\\u0007\\"\\\\/\u2028","a":[4.5,0.002,0,1e+21,1e-7],"😀":1e+30,"\ufb33":1}',
    )
  })

  test('is refused where two texts would be one value', () => {
    expect(() => canonical(['\ud800'])).toThrow(JsonError)
    expect(() => canonical({ '\udc00': 1 })).toThrow(JsonError)
    expect(() => canonical(JSON.parse('[1e999]'))).toThrow(JsonError)
    expect(() => canonical(JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`))).toThrow(JsonError)
  })
})

describe('reading JSON', () => {
  test('gives any value back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(4), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":1}',
    '{"a":{"b":[{"c":1,"c":2}]}}',
    '{"a":{"a":1},"b":[],"a":2}',
    '{"a":"\\"","a":":{"}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
  ])('refuses a repeated name: %s', (text) => {
    expect(() => parseJson(text)).toThrow(JsonError)
  })

  test.each([
    '{"a":{"a":{"a":["a:a","{a:","\\\\"]}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"{\\"b\\":1,\\"b\\":1}"}',
  ])('takes a name that stands in several objects: %s', (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })
})
