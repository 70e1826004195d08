import { describe, expect, it } from 'vitest'
import { aPolicy, verdictOf } from '../../test/support/policies.ts'
import { anAsk } from '../../test/support/rules.ts'
import { evaluatePolicies, snapshotOf } from './evaluate.ts'

/** Conditions with each of the three answers. */
const ANSWERS = { T: 'true', F: 'false', E: 'context.missing == 1' } as const
const KINDS = (['allow', 'deny'] as const).flatMap((effect) =>
  (['T', 'F', 'E'] as const).map((answer) => ({ effect, answer })),
)
type Kind = (typeof KINDS)[number]

/** All multisets of up to `size` kinds: 209 of up to four. */
const multisets = (size: number, from = 0): Kind[][] =>
  size === 0
    ? [[]]
    : [
        [],
        ...KINDS.slice(from).flatMap((kind, i) =>
          multisets(size - 1, from + i).map((rest) => [kind, ...rest]),
        ),
      ]

const orders = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item, i) => orders(items.toSpliced(i, 1)).map((rest) => [item, ...rest]))

/** The expected result of policy rules, computed directly and without an index. */
function expected(kinds: readonly Kind[], defaultEffect: 'allow' | 'deny'): string {
  const has = (effect: string, answer: string) =>
    kinds.some((kind) => kind.effect === effect && kind.answer === answer)
  if (has('deny', 'T')) return 'deny'
  if (has('deny', 'E')) return 'error'
  if (has('allow', 'T')) return 'allow'
  return `default ${defaultEffect}`
}

describe('evaluatePolicies', () => {
  it('answers every combination of up to four rules, in every order, as the table says', () => {
    const all = multisets(4)
    let evaluated = 0
    for (const kinds of all) {
      for (const order of orders(kinds)) {
        for (const defaultEffect of ['allow', 'deny'] as const) {
          const rules = order.map(({ effect, answer }) =>
            aPolicy({ effect, condition: ANSWERS[answer] }),
          )
          const verdict = verdictOf(snapshotOf(rules, defaultEffect), anAsk())
          expect(verdict, JSON.stringify(order)).toBe(expected(kinds, defaultEffect))
          evaluated++
        }
      }
    }
    // 1, 6, 21, 56 and 126 multisets; one without a rule.
    expect(all).toHaveLength(210)
    expect(evaluated).toBe(2 * (1 + 6 + 21 * 2 + 56 * 6 + 126 * 24))
  })

  it('names a rule that denies before one that fails', () => {
    const failing = aPolicy({ effect: 'deny', condition: ANSWERS.E })
    const denying = aPolicy({ effect: 'deny' })

    for (const rules of [
      [failing, denying],
      [denying, failing],
    ]) {
      const verdict = evaluatePolicies(snapshotOf(rules, 'allow'), anAsk(), { isOver: () => false })
      expect(verdict).toEqual({ verdict: 'deny', rule: denying })
    }
  })

  describe('out of time', () => {
    const late = { isOver: () => true }
    const many = (effect: 'allow' | 'deny') =>
      Array.from({ length: 16 }, () => aPolicy({ effect, condition: ANSWERS.F }))

    it.each(['allow', 'deny'] as const)('is no answer among many rules that %s', (effect) => {
      expect(verdictOf(snapshotOf(many(effect), 'allow'), anAsk(), late)).toBe('overtime')
    })

    it('is no default for an allow that was cut short', () => {
      const rule = aPolicy({ effect: 'allow', condition: 'context.items.all(i, i == 1)' })
      const ask = anAsk({ context: { items: Array(20).fill(1) } })

      expect(verdictOf(snapshotOf([rule], 'allow'), ask, late)).toBe('overtime')
      expect(verdictOf(snapshotOf([rule], 'allow'), ask)).toBe('allow')
    })

    it('is nothing that few plain rules ask about', () => {
      expect(verdictOf(snapshotOf([aPolicy({ effect: 'allow' })], 'deny'), anAsk(), late)).toBe(
        'allow',
      )
    })
  })
})
