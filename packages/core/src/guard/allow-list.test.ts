import fc from 'fast-check'
import { expect, it } from 'vitest'
import { withoutAllowed } from './allow-list.ts'
import type { Detection } from './detection.ts'

const detection = (start: number, end: number): Detection => ({
  detector: 'pii.email',
  category: 'pii',
  severity: 'medium',
  start,
  end,
  view: 'original',
  reason: 'pii:email',
})

/** Every place of the literal, tried one by one. */
const standsInside = (text: string, literal: string, { start, end }: Detection) =>
  Array.from(text).some(
    (_, at) => at <= start && end <= at + literal.length && text.startsWith(literal, at),
  )

it('leaves out just what stands inside an allowed text, also where those overlap', () => {
  // Of two letters, so that texts repeat themselves and literals stand in many places.
  const letters = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength })
  fc.assert(
    fc.property(letters(40), fc.array(letters(8), { maxLength: 3 }), (text, allow) => {
      const all = Array.from({ length: text.length }, (_, start) =>
        Array.from({ length: text.length - start }, (__, i) => detection(start, start + i + 1)),
      ).flat()
      const kept = all.filter((one) => !allow.some((literal) => standsInside(text, literal, one)))
      expect(withoutAllowed(text, all, allow)).toEqual(kept)
    }),
  )
})

it('takes an id for a detector, and two allowed texts side by side for two', () => {
  const text = 'kim@mail.example'
  const [found, half] = [detection(0, text.length), detection(0, 3)]

  expect(withoutAllowed(text, [found], ['pii.email'])).toEqual([])
  expect(withoutAllowed(text, [found, half], ['kim', '@mail.example'])).toEqual([found])
  expect(withoutAllowed(text, [found], [`${text}s`])).toEqual([found])
})
