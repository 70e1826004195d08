import { parseStrictJson } from '@remit/contract/json'
import { expect, it } from 'vitest'
import { sendable } from './catalog.ts'

it.each([
  [
    'the bounds of 64-bit integers',
    '{"maximum":9223372036854775807,"minimum":-9223372036854775808}',
  ],
  ['a number beyond doubles', '{"maximum":1e400}'],
  ['U+0000', '{"description":"a\\u0000b"}'],
  ['half a surrogate pair', '{"descrip\\ud800tion":"\\udfff"}'],
])('a definition with %s can be sent to Remit', (_, text) => {
  const sent = JSON.stringify(sendable(JSON.parse(text) as Record<string, unknown>))

  expect(() => parseStrictJson(Buffer.from(sent), { refuseNul: true })).not.toThrow()
})

it('keeps every other definition', () => {
  const definition = {
    name: 'a',
    inputSchema: { type: 'object', properties: { n: { maximum: 1.5 } } },
  }

  expect(sendable(definition)).toEqual(definition)
})
