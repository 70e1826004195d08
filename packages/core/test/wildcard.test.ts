import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMsOf, runs } from '@remit/testing/pure'
import { covers, matchesAll, matchesPattern } from '@remit/contract/patterns'

/** The same rule, said with a regular expression. */
const ruled = (pattern: string, text: string) =>
  new RegExp(
    `^${pattern.replace(/[.*+?^${}()|[\]\\]/g, (c) => (c === '*' ? '[^]*' : `\\${c}`))}$`,
  ).test(text)

const letters = fc.constantFrom('a', 'b', '.', '?', '[')
const text = fc.string({ unit: letters, maxLength: 8 })
const pattern = fc.string({ unit: fc.oneof(letters, fc.constant('*')), maxLength: 8 })

describe('matchesPattern', () => {
  it.each([
    ['payments.*', 'payments.transfer.eu', true],
    ['payments.*', 'payments.', true],
    ['payments.*', 'payments', false],
    ['payments.*', 'paymentsXtransfer', false],
    ['payments.*', 'Payments.transfer', false],
    ['*', '', true],
    ['*.read', 'files.read', true],
    ['*.read', 'files.reader', false],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'abXc', true],
    ['a*b*c', 'acb', false],
    ['a?c', 'abc', false],
    ['', '', true],
    ['', 'a', false],
  ])('%s and %s: %s', (wider, name, expected) => {
    expect(matchesPattern(wider, name)).toBe(expected)
  })

  it('is what a regular expression would say', () => {
    fc.assert(
      fc.property(pattern, text, (p, t) => matchesPattern(p, t) === ruled(p, t)),
      {
        numRuns: runs(5_000),
      },
    )
  })

  it('takes no longer for a pattern that makes others backtrack', async () => {
    const took = await cpuMsOf(() =>
      expect(matchesPattern(`${'*a'.repeat(127)}*b`, 'a'.repeat(256))).toBe(false),
    )

    expect(took).toBeLessThan(500)
  })

  it.each([
    ['end', `*${'a'.repeat(120)}b`],
    ['middle', `*${'a'.repeat(120)}b*`],
    ['half', `*${'a'.repeat(60)}b${'a'.repeat(60)}*`],
  ])('takes little for a long run that nearly matches everywhere: %s', async (_, slow) => {
    const name = `${'a'.repeat(256)}:${'a'.repeat(256)}`
    const took = await cpuMsOf(() => {
      let matched = 0
      for (let i = 0; i < 10_000; i++) matched += Number(matchesPattern(slow, name))
      expect(matched).toBe(0)
    })

    expect(took).toBeLessThan(1_000)
  })
})

describe('covers', () => {
  it.each([
    ['*', 'payments.*', true],
    ['payments.*', '*', false],
    ['payments.*', 'payments.*', true],
    ['payments.*', 'payments.eu.*', true],
    ['payments.*', 'payments.transfer', true],
    ['payments.transfer', 'payments.*', false],
    ['*.read', 'files.*', false],
    ['*a*', '*ba', true],
    ['**', '*', true],
  ])('%s covers %s: %s', (wider, narrower, expected) => {
    expect(covers(wider, narrower)).toBe(expected)
  })

  it('holds only where everything that the narrower matches is matched by the wider', () => {
    fc.assert(
      fc.property(pattern, pattern, text, (wider, narrower, name) => {
        fc.pre(covers(wider, narrower) && matchesPattern(narrower, name))
        return matchesPattern(wider, name)
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('does not hold only where some name tells the two apart', () => {
    fc.assert(
      fc.property(pattern, pattern, (wider, narrower) => {
        const name = narrower.replaceAll('*', '\u0000')
        return covers(wider, narrower) === matchesPattern(wider, name)
      }),
      { numRuns: runs(5_000) },
    )
  })
})

describe('matchesAll', () => {
  it('is true for nothing but asterisks', () => {
    expect(['*', '**', '', 'a', '*a', 'a*'].map(matchesAll)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ])
  })
})
