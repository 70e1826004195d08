import { covers } from '@remit/contract/patterns'
import { describe, expect, test } from 'vitest'
import { conditionDraftOf, conditionOf } from '../src/pages/issuers/conditions.ts'
import { allowLike, exceptLike } from '../src/pages/policies/like-request.ts'
import { shadowOf } from '../src/pages/policies/shadow.ts'
import { selectorOf, selectorText } from '../src/pages/trust/draft.ts'

const rule = (id: string, change: object = {}) => ({
  id,
  effect: 'deny' as 'allow' | 'deny',
  agents: ['*'],
  actions: ['db.drop*'],
  resources: ['*'],
  condition: null as string | null,
  enabled: true,
  mode: 'enforce' as const,
  not_before: null,
  expires_at: null,
  created_at: `2026-11-0${id}T00:00:00.000Z`,
  ...change,
})

describe('patterns', () => {
  test.each([
    ['*', 'a.b', true],
    ['db.*', 'db.drop*', true],
    ['db.drop*', 'db.*', false],
    ['*.refund', 'payments.*.refund', true],
    ['a*c', 'a*b', false],
    ['a.b', 'axb', false],
    ['a', '*', false],
  ])('%s covers %s: %s', (outer, inner, isCovered) => {
    expect(covers(outer, inner)).toBe(isCovered)
  })
})

describe('a rule is shadowed', () => {
  const shadow = (...[own, ...others]: ReturnType<typeof rule>[]) =>
    shadowOf(own!, [own!, ...others])?.id ?? null

  test.each([
    ['an allow by a deny as wide', rule('2', { effect: 'allow' }), rule('1'), '1'],
    ['a narrower deny by a wider one', rule('1', { condition: 'true' }), rule('2'), '2'],
    ['not a deny by an allow', rule('2'), rule('1', { effect: 'allow', actions: ['*'] }), null],
    ['not by a rule with a condition', rule('2'), rule('1', { condition: 'true' }), null],
    ['not by a disabled rule', rule('2'), rule('1', { enabled: false }), null],
    ['not by a rule that ends', rule('2'), rule('1', { expires_at: '2027-01-01' }), null],
    ['not by a narrower rule', rule('2'), rule('1', { actions: ['db.drop_table'] }), null],
  ])('%s', (_, own, other, by) => {
    expect(shadow(own, other)).toBe(by)
  })

  test('the newer one of two equal rules', () => {
    expect(shadow(rule('2'), rule('1'))).toBe('1')
    expect(shadow(rule('1'), rule('2'))).toBeNull()
  })
})

test.each([
  ['support-*', 'support-*'],
  ['env=prod team=payments', { labels: { env: 'prod', team: 'payments' } }],
  ['team="a \\"b\\" c" x=', { labels: { team: 'a "b" c', x: '' } }],
])('the selector %s is read and written back', (line, selector) => {
  expect(selectorOf(line)).toEqual(selector)
  expect(selectorOf(selectorText(selectorOf(line)))).toEqual(selector)
})

test.each([
  { claim: 'sub', equals: '123' },
  { claim: 'tid', equals: 123 },
  { claim: 'env', in: ['a', 'b'] },
  { claim: 'n', in: [1, true] },
  { claim: 'sub', prefix: 'repo:acme/' },
])('the condition %j keeps its types in the form', (condition) => {
  expect(conditionOf(conditionDraftOf(condition))).toEqual(condition)
})

test('a request proposes a policy for its kind of resource, and an exception of its rule', () => {
  const request = { id: 'apr_1', agent_id: 'a"b', action: 'pay', resource: 'order:1' }

  expect(allowLike(request)).toMatchObject({
    effect: 'allow',
    agents: 'a"b',
    actions: 'pay',
    resources: 'order:*',
  })
  expect(exceptLike('x > 1', request)).toBe('(x > 1) && !(agent_id == "a\\"b" && action == "pay")')
})
