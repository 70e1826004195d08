import { describe, expect, it } from 'vitest'
import { anAsk } from '../../test/support/rules.ts'
import { compileCondition } from './condition.ts'
import { factsOf } from './facts.ts'

const answers = (condition: string, context?: Record<string, unknown>) =>
  compileCondition(condition).evaluate(factsOf(anAsk(context && { context })))

/** Evaluated by our own tree, and by the library. */
const READS = ['amount_usd > 1000', 'amount_usd + 0.0 > 1000.0', '1000.0 < amount_usd']
const TESTS = ['has(amount_usd)', "has(amount_usd) && action.matches('.')"]

describe('the amount of a request as `amount_usd`', () => {
  it.each([
    [{ amount_usd: 1005 }],
    [{ amount: 1005 }],
    [{ amount: 1005, currency: 'USD' }],
    [{ amount: 1005, amount_usd: 1005 }],
    [{ amount: 1005, amount_usd: null }],
    [{ amount: null, amount_usd: 1005 }],
  ])('is the same for every spelling: %j', (context) => {
    for (const text of READS) expect([text, answers(text, context)]).toEqual([text, true])
    for (const text of TESTS) expect([text, answers(text, context)]).toEqual([text, true])
    expect(answers('amount_usd == 1005', context)).toBe(true)
    expect(answers('amount_usd == 1004.5', context)).toBe(false)
    expect(answers('amount_usd in [1, 1005]', context)).toBe(true)
  })

  it.each([[undefined], [{}], [{ amount: null }], [{ usd: 1005 }], [{ amount_usd: null }]])(
    'is an error if the request has none, which `has` tells: %j',
    (context) => {
      for (const text of READS) expect([text, answers(text, context)]).toEqual([text, 'error'])
      for (const text of TESTS) expect([text, answers(text, context)]).toEqual([text, false])
      expect(answers('!has(amount_usd) || amount_usd > 1000', context)).toBe(true)
    },
  )

  it.each([
    [{ amount: '1005' }],
    [{ amount: [1005] }],
    [{ amount_usd: { length: 70_000, sha256: 'f'.repeat(64) } }],
    [{ amount_usd: -1 }],
    [{ amount_usd: 1e300 }],
    [{ amount_usd: 1.0000001 }],
    [{ amount_usd: false }],
    [{ amount: 1, amount_usd: 1005 }],
    [{ amount: 1005, currency: 'EUR' }],
    [{ amount: 1005, currency: { length: 70_000 } }],
  ])('is an error if it is invalid, also in `has`: %j', (context) => {
    for (const text of [
      ...READS,
      ...TESTS,
      '!has(amount_usd)',
      '!has(amount_usd) || true == false',
    ])
      expect([text, answers(text, context)]).toEqual([text, 'error'])
  })

  it.each([['/amount'], ['/amount_usd'], ['/currency'], ['']])(
    'is an error if the client replaced %j, also in `has`',
    (place) => {
      const context = { amount: 5, amount_usd: 5, currency: 'USD' }
      const facts = factsOf(anAsk({ context, replaced: [place] }))
      for (const text of [...READS, ...TESTS, '!has(amount_usd)'])
        expect([text, compileCondition(text).evaluate(facts)]).toEqual([text, 'error'])
    },
  )

  it('depends on all members that spell it, which an approval must bind', () => {
    const expected = new Set(['amount_usd', 'amount', 'currency'])

    expect(compileCondition('amount_usd > 1000').reads).toEqual(expected)
    expect(compileCondition('has(amount_usd)').reads).toEqual(expected)
  })

  it.each([
    ['amount_usd * 2 > 3.0', 'write 2.0'],
    ["amount_usd > '5'", 'compares a double with a string'],
    ['[1.0].exists(amount_usd, amount_usd > 1.0)', 'the name amount_usd is already used'],
    ['has(agent_id)', 'there is no function has'],
    ['amount_usd.value > 1', 'a double has no field value'],
    ['amount > 1', 'the variables are action'],
  ])('has the type of a number: %s', (text, message) => {
    expect(() => compileCondition(text)).toThrow(message)
    expect(() => compileCondition(text)).not.toThrow('@')
  })

  it('is no variable of rules about other requests', () => {
    const variables = { context: 'record' } as const
    for (const text of ['has(amount_usd)', 'amount_usd > 1'])
      expect(() => compileCondition(text, variables)).toThrow(
        'there is no variable amount_usd; the variables are context',
      )
    expect(compileCondition('context.amount > 1', variables).warnings.deny).toEqual([])
  })

  it('leaves conditions on the members as they are', () => {
    expect(answers('context.amount_usd > 1000', { amount: 1005 })).toBe('error')
    expect(answers('context.amount_usd > 1000', { amount_usd: 1005, amount: 5 })).toBe(true)
  })
})
