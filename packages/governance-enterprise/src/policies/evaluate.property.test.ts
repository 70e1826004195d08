import fc from 'fast-check'
import { runs } from '@remit/testing/pure'
import { describe, it } from 'vitest'
import { aPolicy, isAllowed, verdictOf } from '../../test/support/policies.ts'
import { anAsk } from '../../test/support/rules.ts'
import { snapshotOf, withOverlay } from './evaluate.ts'

const AGENTS = ['a', 'b', 'planner-1']
const ACTIONS = ['pay', 'pay.eu', 'pay.eu.fast', 'mail.send']
const RESOURCES = ['', 'account:1', 'account:2', 'tool:x']

const list = (...patterns: string[]) =>
  fc.array(fc.constantFrom(...patterns), { minLength: 1, maxLength: 3 })

const rule = fc
  .record({
    effect: fc.constantFrom('allow' as const, 'deny' as const),
    agents: list(...AGENTS, '*', 'planner-*'),
    actions: list(...ACTIONS, '*', 'pay.*', '*.send', 'pay*'),
    resources: list('*', 'account:*', 'tool:x'),
    condition: fc.constantFrom(
      null,
      'context.amount > 10',
      'has(context.amount) && context.amount > 10',
      "context.currency == 'USD'",
      "!has(context.currency) || context.currency in ['EUR']",
      'context.items.exists(i, i > 1)',
    ),
    notBefore: fc.constantFrom(null, 0, 50, 100),
    expiresAt: fc.constantFrom(null, 50, 100, 200),
  })
  .map(aPolicy)
const rules = fc.array(rule, { maxLength: 8 })
const defaultEffect = fc.constantFrom('allow' as const, 'deny' as const)

const value = fc.constantFrom(null, 5, 11, '11', 'USD', 'EUR', true, [1, 2], { a: null })
const context = fc.dictionary(fc.constantFrom('amount', 'currency', 'items', 'other'), value)
const ask = fc
  .record({
    agent_id: fc.constantFrom(...AGENTS),
    action: fc.constantFrom(...ACTIONS),
    resource: fc.constantFrom(...RESOURCES),
    context,
  })
  .chain((request) => fc.constantFrom(0, 50, 99, 100, 150).map((now) => anAsk(request, { now })))

const RUNS = { numRuns: runs(2_000) }

describe('policies, whatever the rules and the request', () => {
  it('say the same in every order of the rules', () => {
    const shuffled = rules.chain((some) =>
      fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
    )
    fc.assert(
      fc.property(shuffled, defaultEffect, ask, ([some, others], effect, request) => {
        const verdict = verdictOf(snapshotOf(some, effect), request)
        return verdictOf(snapshotOf(others, effect), request) === verdict
      }),
      RUNS,
    )
  })

  it('never allow more with one deny added', () => {
    fc.assert(
      fc.property(rules, rule, defaultEffect, ask, (some, more, effect, request) => {
        const before = snapshotOf(some, effect)
        const after = snapshotOf([...some, { ...more, effect: 'deny' }], effect)
        return isAllowed(before, request) || !isAllowed(after, request)
      }),
      RUNS,
    )
  })

  it('never allow more with a narrower allow, or one less', () => {
    fc.assert(
      fc.property(rules, rule, rule, defaultEffect, ask, (some, allow, narrow, effect, request) => {
        const wide = { ...allow, effect: 'allow' as const, condition: null }
        const narrower = { ...wide, condition: narrow.condition }
        const before = isAllowed(snapshotOf([...some, wide], effect), request)
        return (
          before ||
          (!isAllowed(snapshotOf([...some, narrower], effect), request) &&
            !isAllowed(snapshotOf(some, effect), request))
        )
      }),
      RUNS,
    )
  })

  it('treat a null member like an absent one', () => {
    fc.assert(
      fc.property(rules, defaultEffect, ask, (some, effect, request) => {
        const members = Object.entries(request.request.context ?? {})
        const present = Object.fromEntries(members.filter(([, member]) => member !== null))
        const without = anAsk({ ...request.request, context: present }, { now: request.now })
        const snapshot = snapshotOf(some, effect)
        return verdictOf(snapshot, request) === verdictOf(snapshot, without)
      }),
      RUNS,
    )
  })

  it('give with an overlay the result of the resulting rules', () => {
    fc.assert(
      fc.property(rules, rules, defaultEffect, ask, (some, add, effect, request) => {
        const remove = some.filter((_, i) => i % 2 === 0).map(({ id }) => id)
        const overlaid = withOverlay(snapshotOf(some, effect), { add, remove })
        const whole = snapshotOf([...some.filter((_, i) => i % 2 === 1), ...add], effect)
        return verdictOf(overlaid, request) === verdictOf(whole, request)
      }),
      RUNS,
    )
  })
})
