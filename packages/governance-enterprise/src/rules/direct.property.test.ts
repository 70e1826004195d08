import fc from 'fast-check'
import { at } from '@remit/contract/fit'
import type { JsonObject } from '@remit/contract/fit'
import { runs } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { checkCondition } from './check.ts'
import { answerOf, compileWithLibrary } from './condition.ts'
import { ConditionError } from './condition-error.ts'
import { compileDirectly } from './direct.ts'
import { makeFacts } from './facts.ts'
import { parseCondition } from './syntax.ts'
import { AUTHORIZE_VARIABLES } from './types.ts'

const NAMES = ['a', 'b', 'length', 'constructor', '__proto__', 'at']

const literal = fc.constantFrom(
  "'USD'",
  "''",
  "'a'",
  '1',
  '-1',
  '0',
  '2u',
  '1.0',
  '2.5',
  '-0.0',
  '9007199254740993',
  'true',
  'false',
  'null',
)
const selected = fc
  .tuple(
    fc.constantFrom('context', 'context', 'context', 'resource', 'subject', 'action_properties'),
    fc.array(fc.constantFrom(...NAMES, 'type', 'id'), { minLength: 1, maxLength: 3 }),
  )
  .map(([root, names]) => [root, ...names].join('.'))
const value = fc.oneof(
  { weight: 4, arbitrary: selected },
  { weight: 1, arbitrary: fc.constantFrom('action', 'agent_id', 'context') },
  { weight: 2, arbitrary: literal },
)
const infix = (left: fc.Arbitrary<string>, operators: string[], right: fc.Arbitrary<string>) =>
  fc
    .tuple(left, fc.constantFrom(...operators), right)
    .map(([a, operator, b]) => `${a} ${operator} ${b}`)

const test = fc.oneof(
  infix(value, ['==', '!=', '<', '<=', '>', '>='], value),
  infix(
    value,
    ['in'],
    fc.oneof(
      value,
      fc.array(literal, { maxLength: 3 }).map((l) => `[${l.join(', ')}]`),
    ),
  ),
  selected.map((path) => `has(${path})`),
  fc
    .tuple(value, fc.constantFrom('startsWith', 'endsWith', 'contains'), value)
    .map(([text, name, part]) => `${text}.${name}(${part})`),
  selected,
)

const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    test,
    infix(
      tie('condition').map((c) => `(${c})`),
      ['&&', '||'],
      tie('condition').map((c) => `(${c})`),
    ),
    tie('condition').map((c) => `!(${c})`),
    fc
      .tuple(tie('condition'), tie('condition'), tie('condition'))
      .map(([c, yes, no]) => `(${c}) ? (${yes}) : (${no})`),
  ),
}))

/** As the strict reader of JSON makes them: ordinary objects whose members are all their own. */
const own = (members: Record<string, unknown>): unknown => JSON.parse(JSON.stringify(members))

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, 0, -0, 1, 2, 2.5, -1, 9007199254740992, '', 'a', 'USD', '1'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('json'), { maxKeys: 4 }).map(own),
  ),
}))

const record = fc.dictionary(fc.constantFrom(...NAMES, 'type', 'id'), json).map(own)
/** Places of a context that its sender may have replaced. */
const places = fc.array(
  fc
    .array(fc.constantFrom(...NAMES, '0', '1'), { minLength: 1, maxLength: 3 })
    .map((steps) => `/${steps.join('/')}`),
  { maxLength: 3 },
)
const facts = fc
  .record({
    context: record,
    resource: record,
    subject: record,
    action_properties: record,
    replaced: fc.oneof(fc.constant<string[]>([]), places),
  })
  .map(({ replaced, ...values }) =>
    makeFacts(
      { action: 'a', agent_id: 'USD', ...values },
      replaced.filter((place) => at(values.context as JsonObject, place) !== undefined),
    ),
  )

describe('conditions as closures', () => {
  it(
    'answer as the library does, whatever the condition and the request',
    { timeout: 300_000 },
    () => {
      const seen = { true: 0, false: 0, error: 0, refused: 0, 'left to the library': 0 }
      fc.assert(
        fc.property(
          condition,
          fc.array(facts, { minLength: 1, maxLength: 4 }),
          (text, requests) => {
            try {
              checkCondition(parseCondition(text), AUTHORIZE_VARIABLES)
            } catch (error) {
              if (!(error instanceof ConditionError)) throw error
              seen.refused++
              return
            }
            const direct = compileDirectly(parseCondition(text).expr, AUTHORIZE_VARIABLES)
            const library = compileWithLibrary(parseCondition(text).expr)
            if (!direct) {
              seen['left to the library']++
              return
            }
            for (const request of requests) {
              const answer = answerOf(direct.of(request))
              seen[`${answer}`]++
              expect(answer, text).toBe(answerOf(library.of(request)))
            }
          },
        ),
        { numRuns: runs(1_500, 500) },
      )
      for (const answer of ['true', 'false', 'error'] as const)
        expect(seen[answer]).toBeGreaterThan(runs(50, 5))
      expect(seen['left to the library']).toBeLessThan(seen.true + seen.false + seen.error)
    },
  )

  it.each([
    "context.amount > 1000 && context.currency == 'USD' && action.startsWith('payments.')",
    "has(context.amount) && (context.amount <= 10 || !(context.vendor.id in ['a', 'b']))",
    "resource.type == 'tool' ? 'admin' in context.roles : agent_id != 'payer'",
  ])('do without the library: %s', (text) => {
    expect(compileDirectly(parseCondition(text).expr, AUTHORIZE_VARIABLES)).not.toBeNull()
  })

  it.each([
    'context.items.all(i, i > 1)',
    'context.a == context.b',
    "context['a'] == 1",
    'context.a + 1.0 > 2.0',
    "action.matches('a')",
    'now > timestamp(0)',
    'context.a == null',
    'size(context) > 1',
    'type(context.a) == string',
    'context.a in context.b',
    '9007199254740993 > context.a',
  ])('leave to the library: %s', (text) => {
    expect(compileDirectly(parseCondition(text).expr, AUTHORIZE_VARIABLES)).toBeNull()
  })

  it('take no longer than the library to look for a long text in a long one', () => {
    const text = 'context.a.contains(context.b)'
    const request = makeFacts({ context: { a: 'a'.repeat(40_000), b: `${'a'.repeat(999)}b` } })
    const direct = compileDirectly(parseCondition(text).expr, AUTHORIZE_VARIABLES)

    expect(direct && answerOf(direct.of(request))).toBe('error')
    expect(answerOf(compileWithLibrary(parseCondition(text).expr).of(request))).toBe('error')
  })
})
