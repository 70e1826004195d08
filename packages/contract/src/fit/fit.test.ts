import { describe, expect, it } from 'vitest'
import { at, canonical, fitted } from './index.ts'
import type { Json, JsonObject } from './index.ts'
import { fitsFreeForm } from './values.ts'

const deep = (levels: number, core: Json = 1): Json => {
  let value = core
  for (let level = 0; level < levels; level++) value = [value]
  return value
}
const many = <T>(length: number, make: (i: number) => T): T[] =>
  Array.from({ length }, (_, i) => make(i))

describe('a context that does not fit', () => {
  const cases: [string, JsonObject, string[]][] = [
    ['32 nested lists', { args: { amount: 5, memo: deep(31) } }, [`/args/memo${'/0'.repeat(29)}`]],
    [
      '700 lines',
      { args: { amount: 5, rows: many(700, (sku) => ({ sku, qty: 1, price: 2 })) } },
      ['/args/rows'],
    ],
    [
      '400 short texts',
      { args: { amount: 5, rows: many(400, () => 'x'.repeat(200)) } },
      ['/args/rows'],
    ],
    ['a long text', { args: { amount: 5, memo: 'x'.repeat(70_000) } }, ['/args/memo']],
    [
      'a long text among others',
      { args: { a: 'x'.repeat(3_000), amount: 5, b: 'x'.repeat(64_000) } },
      ['/args/b'],
    ],
    [
      'lines and a long text',
      { args: { amount: 5, memo: 'x'.repeat(70_000), rows: many(1_001, (i) => ({ i, j: i })) } },
      ['/args/memo', '/args/rows'],
    ],
    [
      'a deep and a large member',
      { args: { amount: 5, deep: deep(40), rows: many(3_000, (i) => `line ${i} of an order`) } },
      [`/args/deep${'/0'.repeat(29)}`, '/args/rows'],
    ],
    [
      'a list whose replacement adds names',
      {
        args: {
          amount: 5,
          big: many(900, () => 'x'.repeat(80)),
          some: Object.fromEntries(many(10, (i) => [`m${i}`, i])),
          ...Object.fromEntries(many(1_986, (i) => [`n${i}`, i])),
        },
      },
      ['/args/big', '/args/some'],
    ],
    [
      'a name like a pointer',
      { args: { amount: 5, 'a/b~c': 'x'.repeat(70_000) } },
      ['/args/a~1b~0c'],
    ],
    [
      'a member __proto__',
      { args: JSON.parse(`{"amount":5,"__proto__":"${'x'.repeat(70_000)}"}`) as Json },
      ['/args/__proto__'],
    ],
  ]

  it.each(cases)('keeps the rest in its place: %s', async (_, context, places) => {
    const made = await fitted(context)

    expect(made.replaced).toEqual(places)
    expect(at(made.context, '/args/amount')).toBe(5)
    expect(fitsFreeForm(made.context)).toBe(true)
    for (const place of places)
      expect(at(made.context, place)).toMatchObject({
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
  })

  it('is replaced as a whole where nothing can be kept', async () => {
    const { context, replaced } = await fitted(Object.fromEntries(many(2_100, (i) => [`n${i}`, i])))

    expect(replaced).toEqual([''])
    expect(Object.keys(context)).toEqual(['length', 'sha256'])
  })

  it('has at most 100 places, of which what contains them is named', async () => {
    const { replaced } = await fitted({ args: { list: many(200, () => deep(31)), one: deep(31) } })

    expect(replaced).toEqual(['/args/list', '/args/one'])
  })

  it('is the same after another change of a replaced value only by its digest', async () => {
    const of = async (core: string) => JSON.stringify(await fitted({ memo: deep(40, core) }))

    expect(await of('a')).toBe(await of('a'))
    expect(await of('a')).not.toBe(await of('b'))
  })

  it('is left alone where it fits', async () => {
    const context = { args: { memo: deep(30), rows: many(990, (i) => ({ i, j: i })) } }

    expect(await fitted(context)).toEqual({ context, replaced: [] })
    expect((await fitted(context)).context).toBe(context)
  })
})

it('is canonical with all digits of an integer beyond 2^53, wherever it is', () => {
  expect(canonical(2 ** 60)).toBe('1152921504606846976')
  expect(canonical({ a: [2 ** 60], b: { c: -(2 ** 63) }, d: 1e21, e: 1.5 })).toBe(
    '{"a":[1152921504606846976],"b":{"c":-9223372036854775808},"d":1e+21,"e":1.5}',
  )
})
