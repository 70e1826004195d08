import { describe, expect, it } from 'vitest'
import { answerOf, compileCondition, compileWithLibrary } from './condition.ts'
import { makeFacts } from './facts.ts'
import { parseCondition } from './syntax.ts'

const CONTEXT = {
  amount_usd: 5,
  args: {
    amount: 5,
    memo: { length: 3, sha256: 'aa' },
    list: ['a', { length: 3, sha256: 'aa' }, { b: 1 }],
    rows: [{ price: 5 }, { price: { length: 9, sha256: 'bb' }, sku: 'x' }],
  },
}
const REPLACED = ['/args/memo', '/args/list/1', '/args/rows/1/price']

/** The answers of our own evaluator, where it takes the condition, and of the library. */
function answers(text: string, replaced = REPLACED) {
  const facts = () => makeFacts({ action: 'a', context: CONTEXT, now: new Date(0) }, replaced)
  return [
    compileCondition(text).evaluate(facts()),
    answerOf(compileWithLibrary(parseCondition(text).expr).of(facts())),
  ]
}

describe('a condition about a replaced place', () => {
  it.each([
    'has(context.args.memo)',
    'has(context.args.memo.length)',
    "has(context.args.memo) && context.args.memo.startsWith('a')",
    "'memo' in context.args",
    "!('memo' in context.args)",
    "context.args.memo == 'a'",
    "context.args.memo != 'a'",
    "context.args.memo.sha256 == 'aa'",
    "context.args['memo'] == 'a'",
    'size(context.args.memo) == 2',
    'type(context.args.memo) == string',
    'dyn(context.args.memo) == 1',
    'context.args.memo in [1, 2]',
    "'b' in context.args.list",
    '1 in context.args.list',
    "context.args.list[1] == 'a'",
    "context.args.list == ['a']",
    'context.args == context.args',
    'context.args in [context.args]',
    "context.args.list.exists(x, x == 'a')",
    "context.args.list.exists(x, x == 'b')",
    "context.args.list.all(x, x != 'b')",
    "context.args.list.map(x, x) == ['a']",
    "(context.args.list + ['c'])[1] == 'a'",
    "'%s'.format([context.args]) == ''",
    "context.args.list.join('') == 'a'",
    'context.args.rows.all(row, row.price < 9)',
    'context.args.rows.filter(row, has(row.price)).size() > 0',
    "context.args.all(name, context.args[name] != 'x')",
    "context.args.memo == 'a' ? true : true",
    "has(context.args.memo) && action == 'a'",
    "has(context.args.memo) || action == 'b'",
  ])('is an error: %s', (text) => {
    expect(answers(text)).toEqual(['error', 'error'])
  })

  it.each([
    ["has(context.args.memo) && action == 'b'", false],
    ["context.args.memo == 'a' || action == 'a'", true],
    ["action == 'b' && has(context.args.memo)", false],
    ['context.args.amount > 4 && context.amount_usd == 5', true],
    ['has(context.args.list)', true],
    ['has(context.args.other)', false],
    ["'a' in context.args.list", true],
    ["context.args.list[0] == 'a'", true],
    ['context.args.list[2].b == 1', true],
    ["context.args.list == 'a'", false],
    ["context.args in ['a', 'b']", false],
    ["context.args.list == 'a' || context.args in []", false],
    ['size(context.args.list) == 3', true],
    ['size(context.args) == 4', true],
    ['context.args.rows.exists(row, row.price == 5)', true],
    ["context.args.rows[1].sku == 'x'", true],
    ["'price' in context.args.rows[0]", true],
  ])('is what the rest says: %s', (text, answer) => {
    expect(answers(text)).toEqual([answer, answer])
  })

  it('reads what was sent where nothing was replaced', () => {
    expect(answers("context.args.memo.sha256 == 'aa' && has(context.args.memo)", [])).toEqual([
      true,
      true,
    ])
  })

  it('is an error where the whole context was replaced', () => {
    for (const text of ['has(context.a)', 'size(context) > 1', "'a' in context"])
      expect(answers(text, [''])).toEqual(['error', 'error'])
  })
})

describe('has() on what is no map', () => {
  const context = { text: 'a', list: [{ member: 1 }], number: 1, flag: true, map: { member: 1 } }
  const facts = () => makeFacts({ action: 'a', context, now: new Date(0) })
  const of = (text: string) => [
    compileCondition(text).evaluate(facts()),
    answerOf(compileWithLibrary(parseCondition(text).expr).of(facts())),
  ]

  it.each(['context.text', 'context.list', 'context.number', 'context.flag'])(
    'is an error: %s',
    (value) => {
      expect(of(`has(${value}.member)`)).toEqual(['error', 'error'])
      expect(of(`has(${value}.member) && ${value}.member > 1`)).toEqual(['error', 'error'])
      expect(of(`has(${value}.length)`)).toEqual(['error', 'error'])
      expect(of(`has(${value}.member.more)`)).toEqual(['error', 'error'])
    },
  )

  it('tests the members of a map', () => {
    expect(of('has(context.map.member)')).toEqual([true, true])
    expect(of('has(context.map.other)')).toEqual([false, false])
    expect(of('has(context.list[0].member)')).toEqual([true, true])
    expect(of('context.list.all(x, has(x.member))')).toEqual([true, true])
  })

  it.each(['context.text', 'context.number', 'context.flag', 'action'])(
    'is an error for in, too: %s',
    (value) => {
      expect(of(`'member' in ${value}`)).toEqual(['error', 'error'])
      expect(of(`!('member' in ${value})`)).toEqual(['error', 'error'])
    },
  )
})
