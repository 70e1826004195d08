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

describe('a condition about a member that a mapping omits', () => {
  const DIGEST = 'k4_PEB9N'
  const of = (text: string, context: object, replaced?: string[]) => {
    const facts = () => makeFacts({ action: 'a', context, now: new Date(0) }, replaced)
    return [
      compileCondition(text).evaluate(facts()),
      answerOf(compileWithLibrary(parseCondition(text).expr).of(facts())),
    ]
  }
  const args = JSON.parse('{"amount":5,"payee":{"name":"x"},"rows":[{"sku":"y"},null]}') as object
  const pointers = ['/iban', '/payee/bic', '/rows/0/note', '/rows/1', '/a~1b', '/__proto__', '/']
  const omitted = Object.fromEntries(pointers.map((pointer) => [pointer, DIGEST]))

  it.each([
    "has(context.args.iban) && context.args.iban.startsWith('DE')",
    '!has(context.args.iban)',
    "'iban' in context.args",
    "context.args['a/b'] == 'x'",
    "'' in context.args",
    'has(context.args.__proto__)',
    'has(context.args.payee.bic)',
    'has(context.args.rows[0].note)',
    'has(context.args.rows[1].sku)',
    'context.args.rows.exists(row, has(row.note))',
    'context.args == {"amount": 5}',
  ])('is an error: %s', (text) => {
    expect(of(text, { args, omitted })).toEqual(['error', 'error'])
  })

  it.each([
    'context.args.amount == 5',
    "context.args.payee.name == 'x'",
    "context.args.rows[0].sku == 'y'",
    '!has(context.args.other)',
    "context.omitted['/iban'] == 'k4_PEB9N'",
    'size(context.omitted) == 7',
  ])('reads the rest: %s', (text) => {
    expect(of(text, { args, omitted })).toEqual([true, true])
  })

  it('is an error for all arguments where the list of omitted members was replaced', () => {
    const stub = { length: 9, sha256: 'aa' }
    for (const replaced of ['/omitted', '/omitted/~1iban'])
      for (const text of [
        'has(context.args.amount)',
        'has(context.args)',
        'has(context.args.iban)',
      ])
        expect(of(text, { args, omitted: { '/iban': stub } }, [replaced])).toEqual([
          'error',
          'error',
        ])
  })

  it.each([
    ['/rows/length', 'has(context.args.rows)'],
    ['/rows/4294967294', 'has(context.args.rows)'],
    ['/rows/-', 'has(context.args.rows)'],
    ['/amount/more', 'has(context.args.amount)'],
    ['/none/more', 'has(context.args.none)'],
    ['/__proto__/__proto__', 'has(context.args.__proto__)'],
    ['/constructor/prototype', 'has(context.args.constructor)'],
  ])('is an error about what would contain it: %s', (pointer, text) => {
    expect(of(text, { args, omitted: { [pointer]: DIGEST } })).toEqual(['error', 'error'])
    expect(of('has(context.tool)', { args, tool: 'x', omitted: { [pointer]: DIGEST } })).toEqual([
      true,
      true,
    ])
  })

  it('has nothing to do with an argument of that name, or with members of another form', () => {
    const text = 'has(context.args.iban)'
    const others = [null, ['/iban'], 'iban', { iban: DIGEST }, { '/iban': 5 }]
    expect(of(text, { args: { iban: 'x', omitted } })).toEqual([true, true])
    for (const other of others)
      expect(of(text, { args: { iban: 'x' }, omitted: other })).toEqual([true, true])
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
