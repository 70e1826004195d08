import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { isUnchanged, snapshot } from './snapshot.ts'

const realm = (): object => JSON.parse('{"usd":1}') as object

describe('the snapshot of an input', () => {
  it('has all of plain data, and shares nothing with it', () => {
    const input = {
      text: 'a',
      list: [1, [true, null]],
      at: new Date(0),
      url: new URL('https://a.example/b'),
      bytes: Buffer.from('abc'),
      view: new Uint16Array([1, 2]),
      raw: new Uint8Array([7]).buffer,
      data: new DataView(new Uint8Array([1, 2, 3]).buffer, 1),
      big: 5n,
      bare: Object.assign(Object.create(null) as object, { x: 1 }),
    }
    const copy = snapshot(input) as typeof input

    expect(copy).toEqual({ ...input, bare: { x: 1 } })
    expect(copy.bytes).toBeInstanceOf(Buffer)
    for (const name of ['list', 'at', 'url', 'bytes', 'view', 'raw', 'data', 'bare'] as const)
      expect(copy[name]).not.toBe(input[name])
    input.bytes[0] = 0
    input.at.setTime(1)
    expect([copy.bytes.toString(), copy.at.getTime(), copy.data.byteLength]).toEqual(['abc', 0, 2])
  })

  it('reads each member once, and has what it read', () => {
    let reads = 0
    const input = {
      get usd() {
        return ++reads
      },
    }

    expect([snapshot(input), reads]).toEqual([{ usd: 1 }, 1])
  })

  it('keeps the member __proto__, and has no member that is undefined', () => {
    const copy = snapshot(JSON.parse('{"__proto__":{"usd":5},"a":1}')) as object

    expect(Object.keys(copy)).toEqual(['__proto__', 'a'])
    expect('usd' in copy).toBe(false)
    expect(Object.keys(snapshot({ a: undefined }) as object)).toEqual([])
  })

  class Money {
    readonly #usd = 5000
    get usd(): number {
      return this.#usd
    }
  }
  const cyclic: Record<string, unknown> = {}
  cyclic['a'] = [cyclic]

  it.each([
    ['an instance of a class', new Money(), 'the input is a Money'],
    ['members of a prototype', Object.create({ usd: 5000 }), 'prototype of its own'],
    [
      'members of a prototype without one',
      Object.create(Object.assign(Object.create(null) as object, { usd: 5000 })),
      'prototype of its own',
    ],
    [
      'hidden members of a prototype without one',
      Object.create(Object.defineProperty(Object.create(null) as object, 'usd', { value: 5000 })),
      'prototype of its own',
    ],
    [
      'a list whose prototype has members',
      { a: Object.setPrototypeOf([1], { usd: 5000 }) as unknown },
      '/a is a object with a prototype of its own',
    ],
    ['toJSON', { a: { usd: 5000, toJSON: () => ({ usd: 1 }) } }, '/a/toJSON is of type function'],
    [
      'a member that is not enumerable',
      Object.defineProperty({}, 'usd', { value: 1 }),
      'not enumerable',
    ],
    ['a member that a symbol names', { [Symbol('usd')]: 5000 }, 'no text names it'],
    ['a list with a name', { a: Object.assign([1], { usd: 5000 }) }, '/a is a list with a member'],
    ['a list with a symbol', Object.assign([], { [Symbol('usd')]: 5000 }), 'a list with a member'],
    ['a class of lists', { a: new (class Rates extends Array {})() }, '/a is a Rates'],
    ['a map', { a: [new Map([['usd', 5000]])] }, '/a/0 is a Map'],
    ['a set', new Set([1]), 'is a Set'],
    ['an error', new Error('x'), 'is a Error'],
    ['a boxed number', { a: Object(5) as unknown }, '/a is a Number'],
    [
      'a class that says that it is an object',
      Object.assign(new Money(), { [Symbol.toStringTag]: 'Object' }),
      'a Money',
    ],
    ['an invalid date', { at: new Date(Number.NaN) }, '/at is an invalid date'],
    ['a symbol', Symbol('a'), 'is of type symbol'],
    ['a cycle', cyclic, '/a/0 is nested too deeply or contains a cycle'],
    [
      'what throws',
      {
        get usd(): number {
          throw new RangeError('no')
        },
      },
      'no',
    ],
  ])('refuses %s', (_, input: unknown, message) => {
    expect(() => snapshot(input)).toThrow(message)
  })

  it('takes lists with holes, and lists of another realm', () => {
    // eslint-disable-next-line no-sparse-arrays
    expect(snapshot([, 1])).toEqual([undefined, 1])
    expect(snapshot(runInNewContext('[1, , [2]]'))).toEqual([1, undefined, [2]])
  })

  it('takes plain objects of another realm', () => {
    const foreign = Object.setPrototypeOf(realm(), Object.create(null) as object) as object

    expect(snapshot(foreign)).toEqual({ usd: 1 })
    expect(snapshot(runInNewContext('({ usd: 1 })'))).toEqual({ usd: 1 })
  })

  it('refuses everything while Object.prototype has a member that rules would not see', () => {
    Object.assign(Object.prototype, { usd: 5000 })
    try {
      expect(() => snapshot({ a: 1 })).toThrow('the input inherits usd')
    } finally {
      Reflect.deleteProperty(Object.prototype, 'usd')
    }
    expect(snapshot({ a: 1 })).toEqual({ a: 1 })
  })

  it('has one zero, as a rule has', () => {
    expect(snapshot({ usd: [-0] })).toEqual({ usd: [0] })
    expect(isUnchanged({ usd: 0 }, { usd: -0 })).toBe(true)
  })

  it('is a copy, whatever the class of the bytes says of copies', () => {
    const shared = new Uint8Array([1])
    class Shared extends Uint8Array {
      static get [Symbol.species]() {
        return (() => shared) as unknown as typeof Shared
      }
    }
    class Raw extends ArrayBuffer {
      override slice(): ArrayBuffer {
        return this
      }
    }
    const raw = new Raw(1)
    const bytes = Object.assign(new Uint8Array([1]), { constructor: Shared })
    const copy = snapshot({ own: bytes, of: new Shared([1]), raw }) as Record<string, object>

    expect(Object.values(copy)).not.toContain(shared)
    expect(copy['raw']).not.toBe(raw)
    expect(Object.values(copy).map((one) => one.constructor)).toEqual([
      Uint8Array,
      Uint8Array,
      ArrayBuffer,
    ])
  })
})

describe('a value and its snapshot', () => {
  it.each([
    ['an object', () => Object.defineProperty({}, 'usd', { get: () => 1, enumerable: true })],
    ['a list', () => Object.defineProperty([0], 0, { get: () => 1, enumerable: true })],
  ])('differ where a getter could return yet another value: %s', (_, make) => {
    const value = make()

    expect(isUnchanged(snapshot(value), value)).toBe(false)
  })

  it.each<[string, () => object, (value: never) => unknown]>([
    ['number', () => ({ usd: 1 }), (value: { usd: unknown }) => (value.usd = 2)],
    ['type', () => ({ usd: 1 }), (value: { usd: unknown }) => (value.usd = '1')],
    ['kind', () => ({ usd: 1 }), (value: { usd: unknown }) => (value.usd = new Map())],
    ['new member', () => ({ usd: 1 }), (value: object) => Object.assign(value, { to: 'x' })],
    ['lost member', () => ({ usd: 1, to: 1 }), (value: { to?: unknown }) => delete value.to],
    ['item', () => [1, [2]], (value: unknown[]) => (value[1] as unknown[]).push(3)],
    ['date', () => ({ at: new Date(0) }), (value: { at: Date }) => value.at.setTime(5)],
    [
      'date as text',
      () => ({ at: new Date(0) }),
      (value: { at: unknown }) => (value.at = '1970-01-01T00:00:00.000Z'),
    ],
    ['address', () => ({ url: new URL('a:b') }), (value: { url: URL }) => (value.url.hash = 'c')],
    [
      'byte',
      () => ({ bytes: new Uint8Array(2) }),
      (value: { bytes: Uint8Array }) => (value.bytes[1] = 1),
    ],
    [
      'raw byte',
      () => ({ raw: new ArrayBuffer(2) }),
      (value: { raw: ArrayBuffer }) => (new Uint8Array(value.raw)[0] = 1),
    ],
    ['BigInt', () => ({ big: 5n }), (value: { big: unknown }) => (value.big = '5')],
  ])('differ after a change: %s', (_, make, change) => {
    const value = make()
    const copy = snapshot(value)

    expect(isUnchanged(copy, value)).toBe(true)
    change(value as never)
    expect(isUnchanged(copy, value)).toBe(false)
  })
})
