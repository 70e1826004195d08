import fc from 'fast-check'
import { expect, it } from 'vitest'
import { matchesGlob } from './glob.ts'

it('agrees with a regular expression of the same meaning', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 8 })
  fc.assert(
    fc.property(text, text, (pattern, subject) => {
      const escaped = pattern.replaceAll('.', '\\.').replaceAll('*', '.*')
      expect(matchesGlob(pattern, subject)).toBe(new RegExp(`^${escaped}$`, 's').test(subject))
    }),
    { numRuns: 2_000 },
  )
})
