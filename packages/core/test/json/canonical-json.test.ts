import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeWithData, readData, readDataJson } from '../shared-data.ts'
import { CanonicalJsonError, canonicalJson } from '@remit/contract/json'

const DOCUMENTS = ['arrays', 'french', 'structures', 'unicode', 'values', 'weird']

describeWithData('jcs')('the published JCS vectors', () => {
  test.each(DOCUMENTS)('%s.json comes out byte for byte', (name) => {
    const value: unknown = JSON.parse(readData(`jcs/input/${name}.json`).toString('utf8'))
    const expected = readData(`jcs/outhex/${name}.txt`).toString('utf8').replaceAll(/\s/g, '')

    const text = canonicalJson(value)

    expect(Buffer.from(text, 'utf8').toString('hex')).toBe(expected)
    expect(text).toBe(readData(`jcs/output/${name}.json`).toString('utf8').replace(/\n$/, ''))
  })

  test('ten thousand numbers print as ECMAScript prescribes', () => {
    const file = readData('jcs/es6-numbers-10000.txt')
    const digest = createHash('sha256').update(file).digest('hex')
    const bits = Buffer.alloc(8)

    const wrong = file
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','))
      .filter(([hex = '', expected]) => {
        bits.writeBigUInt64BE(BigInt(`0x${hex}`))
        return canonicalJson(bits.readDoubleBE()) !== expected
      })

    expect(digest).toBe('b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892')
    expect(wrong).toEqual([])
  })

  test('names are ordered by UTF-16 code units, not by code points', () => {
    const cases = readDataJson('jcs/key-order.json') as { keys: string[]; sorted_utf16: string[] }[]

    for (const { keys, sorted_utf16: sorted } of cases) {
      const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])))

      expect(text).toBe(`{${sorted.map((key) => `${JSON.stringify(key)}:0`).join(',')}}`)
    }
  })
})

describe('what canonical JSON refuses, and where', () => {
  class Money {
    readonly units = 1
  }
  const holed = [1]
  holed[2] = 3
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle

  test.each<[string, unknown, RegExp]>([
    ['undefined', { a: { b: undefined } }, /^\$\.a\.b is of type undefined/],
    ['a hole in an array', { list: holed }, /^\$\.list\[1\] is of type undefined/],
    ['a function', [[() => 1]], /^\$\[0\]\[0\] is of type function/],
    ['a symbol', { s: Symbol('x') }, /^\$\.s is of type symbol/],
    ['a BigInt', { n: 1n }, /^\$\.n is of type bigint/],
    ['NaN', { n: Number.NaN }, /^\$\.n is NaN/],
    ['Infinity', { n: [-Infinity] }, /^\$\.n\[0\] is -Infinity/],
    ['a class instance', { m: new Money() }, /^\$\.m is an instance/],
    ['a Date', { at: new Date(0) }, /^\$\.at is an instance/],
    ['a Map', new Map(), /^\$ is an instance/],
    ['a lone surrogate in a string', { s: 'x\ud800' }, /^\$\.s contains an unpaired/],
    ['a lone surrogate in a name', { a: { '\udfff': 1 } }, /^\$\.a\.\ufffd contains an unpaired/],
    ['a cycle', cycle, /^\$(\.self)+ is nested too deep/],
  ])('%s', (_, value, message) => {
    expect(() => canonicalJson(value)).toThrow(CanonicalJsonError)
    expect(() => canonicalJson(value)).toThrow(message)
  })
})

describe('canonical JSON as a function', () => {
  test('__proto__ and integer-like names are ordinary names', () => {
    const value: unknown = JSON.parse('{"b":1,"__proto__":{"x":1},"10":2,"9":3,"-1":4}')

    expect(canonicalJson(value)).toBe('{"-1":4,"10":2,"9":3,"__proto__":{"x":1},"b":1}')
  })

  test('a value without prototype and negative zero are written plainly', () => {
    const value = Object.assign(Object.create(null) as object, { z: -0 })

    expect(canonicalJson(value)).toBe('{"z":0}')
  })

  test('writing does not reorder or change the value it was given', () => {
    const value = { b: [{ d: 1, c: 2 }], a: 3 }

    canonicalJson(value)

    expect(JSON.stringify(value)).toBe('{"b":[{"d":1,"c":2}],"a":3}')
  })

  test.each([1, 2, 20, 40, 41, 42, 200])(
    'every character is written as JSON demands, in a text of %i',
    (length) => {
      const characters = Array.from({ length: 0x500 }, (_, unit) => String.fromCharCode(unit))
      characters.push('\u2028', '\uffff', '\ud7ff', '\ue000', '\u{10000}', '\u{1f600}')
      for (const character of characters) {
        for (const at of [0, length - 1]) {
          const text = 'a'.repeat(at) + character + 'a'.repeat(length - 1 - at)

          expect(canonicalJson(text)).toBe(JSON.stringify(text))
        }
      }
      for (const half of ['\ud800', '\udbff', '\udc00', '\udfff'])
        expect(() => canonicalJson('a'.repeat(length - 1) + half)).toThrow(/surrogate/)
    },
  )

  test.each([2, 31, 32, 33, 34, 200])('orders %i names that come in any order', (count) => {
    const names = Array.from({ length: count }, (_, at) => `${(at * 7919) % count} ${at}`)
    for (const order of [
      names,
      names.toReversed(),
      names.toSorted(),
      names.toSorted().toReversed(),
    ])
      expect(canonicalJson(Object.fromEntries(order.map((name) => [name, 1])))).toBe(
        canonicalize(Object.fromEntries(order.map((name) => [name, 1]))),
      )
  })

  const json = fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 6 })

  test('agrees with the reference implementation on any JSON value', () => {
    fc.assert(fc.property(json, (value) => canonicalJson(value) === canonicalize(value)))
  })

  test('is stable under the order of names and reads back as the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)

        expect(canonicalJson(reversed(value))).toBe(text)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    )
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).toReversed()
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]))
}
