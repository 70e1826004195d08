import { describe, expect, it } from 'vitest'
import { toPlain } from './snapshot.ts'

describe('a value as plain JSON', () => {
  it('loses no hole of an array, and no member by its name', async () => {
    const holes: unknown[] = []
    holes[1] = null
    const value = { holes, nested: JSON.parse('{"__proto__":{"a":1},"b\\u0000":2}') as object }

    const plain = (await toPlain(value)) as { holes: unknown; nested: object }

    expect(plain.holes).toEqual([null, null])
    expect(Object.entries(plain.nested)).toEqual([
      ['__proto__', { a: 1 }],
      [expect.stringMatching(/^b\ufffd~[0-9a-f]{8}$/), 2],
    ])
    expect(JSON.stringify(plain)).toContain('"__proto__":{"a":1}')
  })

  it('is what the value was when it was asked for', async () => {
    const value = { bytes: new Uint8Array([1]), text: 'a\0', last: 1 }
    const asked = toPlain(value)
    value.last = 2
    value.bytes[0] = 2

    expect(await asked).toMatchObject({
      last: 1,
      bytes: {
        length: 1,
        sha256: '4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a',
      },
    })
  })
})
