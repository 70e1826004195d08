import fc from 'fast-check'
import { expect, it } from 'vitest'
import { setMember, splice } from './splice.ts'

const spliced = (json: string, path: string[], value: string) =>
  splice(Buffer.from(json), path, value)?.toString() ?? null

it.each([
  ['{"id":1,"a":2}', ['id'], '{"id":"x","a":2}'],
  ['{ "a" : {"id":1} ,\n "id" : "o\\"ld" }', ['id'], '{ "a" : {"id":1} ,\n "id" : "x" }'],
  ['{"a":{"b":[1,{"id":2}],"id":3}}', ['a', 'id'], '{"a":{"b":[1,{"id":2}],"id":"x"}}'],
  ['{"\\u0069d":1}', ['id'], '{"\\u0069d":"x"}'],
  ['{"id":1,"id":2}', ['id'], '{"id":1,"id":"x"}'],
  ['{"a":"\\\\","id":-1.5e3}', ['id'], '{"a":"\\\\","id":"x"}'],
  ['{"a":1}', ['id'], null],
  ['{}', ['id'], null],
  ['{"a":[]}', ['a', 'id'], null],
])('%s', (json, path, expected) => {
  expect(spliced(json, path, '"x"')).toBe(expected)
})

it('changes that member alone, in any JSON', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue(),
      fc.constantFrom(0, 2),
      (others, old, indent) => {
        const json = JSON.stringify({ ...others, target: old }, null, indent)
        const parsed = JSON.parse(spliced(json, ['target'], '"new"') ?? '') as object

        expect(parsed).toEqual({ ...(JSON.parse(json) as object), target: 'new' })
      },
    ),
  )
})

it.each([
  ['{"r":{"a":1}}', '{"r":{"m":[2],"a":1}}'],
  ['{"r":{"m":{"x":1},"a":1}}', '{"r":{"m":[2],"a":1}}'],
  ['{"r" : { } }', '{"r" : {"m":[2] } }'],
  ['{"r":[]}', null],
  ['{"error":{"code":1}}', null],
])('sets a member of an object in %s', (json, expected) => {
  expect(setMember(Buffer.from(json), ['r'], 'm', '[2]')?.toString() ?? null).toBe(expected)
})
