import { matchesPattern } from '@remit/contract/patterns'
import { runs } from '@remit/testing/pure'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listsOverlap, narrowed, overlap } from './permission.ts'

const letters = (...alphabet: string[]) =>
  fc.array(fc.constantFrom(...alphabet), { maxLength: 5 }).map((parts) => parts.join(''))
const text = letters('a', 'b', '.')
const pattern = letters('a', 'b', '.', '*', '*').filter((one) => one !== '')
const list = fc.array(pattern, { minLength: 1, maxLength: 3 })

const matches = (patterns: readonly string[], one: string) =>
  patterns.some((wider) => matchesPattern(wider, one))

describe('the common part of lists of patterns', () => {
  it.each([
    [[['*'], ['payments.*'], ['payments.transfer']], ['payments.transfer'], false],
    [[['payments.transfer'], ['payments.*']], ['payments.transfer'], false],
    [
      [
        ['payments.*', 'mail.*'],
        ['*.send', 'mail.read'],
      ],
      ['mail.read'],
      true,
    ],
    [[['payments.*'], ['mail.*']], [], false],
    [[['a.*'], ['*.b']], [], true],
    [[['*.a'], ['*.b']], [], false],
    [
      [
        ['x', 'y'],
        ['y', 'z'],
      ],
      ['y'],
      false,
    ],
  ])('of %j', (lists, patterns, isPartial) => {
    expect(narrowed(lists)).toEqual({ patterns, isPartial })
  })

  it('matches nothing outside one of the lists', () => {
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 3 }), text, (lists, one) => {
        fc.pre(matches(narrowed(lists).patterns, one))
        expect(lists.every((patterns) => matches(patterns, one))).toBe(true)
      }),
      { numRuns: runs(1_000), maxSkipsPerRun: 1_000 },
    )
  })

  it('is complete, unless it is marked as partial', () => {
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 3 }), text, (lists, one) => {
        const { patterns, isPartial } = narrowed(lists)
        fc.pre(!isPartial && lists.every((each) => matches(each, one)))
        expect(matches(patterns, one)).toBe(true)
      }),
      { numRuns: runs(1_000), maxSkipsPerRun: 1_000 },
    )
  })

  it('is never empty if a text matches both', () => {
    fc.assert(
      fc.property(pattern, pattern, text, (a, b, one) => {
        fc.pre(matchesPattern(a, one) && matchesPattern(b, one))
        expect(overlap(a, b)).toBe(true)
        expect(listsOverlap([a], [b])).toBe(true)
      }),
      { numRuns: runs(1_000), maxSkipsPerRun: 1_000 },
    )
  })
})
