import { describe, expect, it } from 'vitest'
import { DECISION_MS, DecisionMeter } from '@remit/core/decision'
import { aPolicy } from '../../test/support/policies.ts'
import { anAsk } from '../../test/support/rules.ts'
import { policyStage } from './stage.ts'
import { snapshotOf } from './evaluate.ts'

/** A clock that is ten milliseconds further at every look. */
const hurrying = () => {
  let now = 0
  return () => (now += 10)
}

describe('the time of one decision', () => {
  const slow = 'context.items.all(item, context.flag)'
  const ask = (turns: number, clock?: () => number) =>
    anAsk(
      { context: { items: Array(turns).fill(0), flag: true } },
      { meter: new DecisionMeter(DECISION_MS, clock, clock) },
    )

  it.each([
    ['a deny', 'deny'],
    ['an allow', 'allow'],
  ] as const)('ends the loop of %s, which denies', (_, effect) => {
    const snapshot = snapshotOf([aPolicy({ effect, condition: slow })], 'allow')
    const stage = policyStage()

    expect(stage.decide(ask(1_000, hurrying()), snapshot)).toMatchObject({
      verdict: 'deny',
      reason: 'policy_error',
    })
    expect(stage.decide(ask(10, hurrying()), snapshot)).toMatchObject(
      effect === 'deny' ? { verdict: 'deny', reason: 'policy_deny' } : { verdict: 'pass' },
    )
  })

  it('ends among many rules, which denies and names no rule', () => {
    const rules = Array.from({ length: 200 }, () =>
      aPolicy({ effect: 'allow', condition: 'false' }),
    )

    expect(policyStage().decide(ask(0, hurrying()), snapshotOf(rules, 'allow'))).toEqual({
      verdict: 'deny',
      reason: 'policy_error',
      message: 'The policies could not be evaluated within 25 ms.',
    })
  })

  it('is what this thread computes, when no other clock is given', () => {
    const condition = 'context.items.exists(item, item == 1 || !context.flag)'
    const denies = (length: number) =>
      snapshotOf(
        Array.from({ length }, () => aPolicy({ effect: 'deny', condition })),
        'allow',
      )

    expect(policyStage().decide(ask(1_000), denies(500))).toMatchObject({
      verdict: 'deny',
      reason: 'policy_error',
    })
    // Few rules: a collection of garbage in this thread counts as computed, too.
    expect(policyStage().decide(ask(1), denies(5))).toEqual({ verdict: 'pass' })
  })

  it('includes what the stages before it have computed', () => {
    const rules = Array.from({ length: 32 }, () => aPolicy({ effect: 'deny', condition: 'false' }))
    const clock = hurrying()
    const meter = new DecisionMeter(DECISION_MS, clock, clock)
    const snapshot = snapshotOf(rules, 'allow')

    expect(policyStage().decide(anAsk({}, { meter }), snapshot)).toEqual({ verdict: 'pass' })
    expect(policyStage().decide(anAsk({}, { meter }), snapshot)).toMatchObject({
      verdict: 'deny',
      reason: 'policy_error',
    })
  })
})
