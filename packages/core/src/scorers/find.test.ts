import fc from 'fast-check'
import { expect, it } from 'vitest'
import { occurrences } from './text.ts'

function byHand(text: string, needle: string): number[] {
  const found: number[] = []
  for (let at = 0; at + needle.length <= text.length; at++) {
    if (needle !== '' && text.startsWith(needle, at)) found.push(at)
  }
  return found
}

it('finds every place of a short or a long needle, overlapping ones too', () => {
  const ab = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 })
  const repeat = fc.tuple(ab, fc.integer({ min: 1, max: 40 }))
  fc.assert(
    fc.property(repeat, repeat, ([text, times], [needle, often]) => {
      const whole = text.repeat(times)
      const wanted = needle.repeat(often)
      expect([...occurrences(whole, wanted)]).toEqual(byHand(whole, wanted))
    }),
    { numRuns: 500 },
  )
  const long = 'ab'.repeat(40)
  expect([...occurrences(long.repeat(3), long)]).toEqual(byHand(long.repeat(3), long))
})
