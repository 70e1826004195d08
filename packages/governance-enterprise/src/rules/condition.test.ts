import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compileCondition, ConditionError, conditionOf } from './condition.ts'
import { makeFacts } from './facts.ts'

const CONTEXT = {
  amount: 5000,
  small: 0.5,
  currency: 'USD',
  vendor: { name: 'Müller 😀', tags: ['a', 'b', null] },
  items: [
    { n: 1, name: 'one' },
    { n: 2, name: 'two' },
  ],
  many: Array.from({ length: 1_001 }, (_, i) => i),
  flag: true,
  nothing: null,
  when: '2026-11-20T07:00:00Z',
  text: 'a'.repeat(60_000),
}

const facts = makeFacts({
  action: 'payments.transfer',
  agent_id: 'payer',
  agent: {},
  resource: { type: 'account', id: '12', properties: {} },
  context: CONTEXT,
  subject: { type: 'agent', id: 'payer' },
  action_properties: {},
  now: new Date('2026-11-20T08:00:00Z'),
})

const evaluate = (text: string) => compileCondition(text).evaluate(facts)
const refusal = (text: string) => {
  try {
    compileCondition(text)
  } catch (error) {
    if (error instanceof ConditionError) return error
    throw error
  }
  throw new Error(`${text} was accepted`)
}

describe('a condition', () => {
  it.each(
    JSON.parse(readFileSync(new URL('conditions.json', import.meta.url), 'utf8')) as [
      text: string,
      answer: boolean | 'error',
    ][],
  )('%s: %s', (text, answer) => {
    expect(evaluate(text)).toBe(answer)
  })

  it('does not treat a request as a protobuf message', () => {
    const disguised = [
      { amount: { $typeName: 'google.protobuf.Int32Value', value: 1, usd: 5000 } },
      { $typeName: 'google.protobuf.Struct', fields: {}, amount: 5000 },
    ]
    const condition = compileCondition('context.amount > 1000')

    expect(disguised.map((context) => condition.evaluate(makeFacts({ context })))).toEqual([
      'error',
      true,
    ])
  })

  it('sees own members only, whatever they are called', () => {
    const own = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as unknown
    const condition = compileCondition(
      'context.__proto__.a == 1 && context.constructor == 2 && !has(context.toString)',
    )

    expect(condition.evaluate(makeFacts({ context: own }))).toBe(true)
    expect(condition.evaluate(makeFacts({ context: {} }))).toBe('error')
  })

  it('stops in the middle of a loop when the decision exceeds its time limit', () => {
    let looks = 0
    const meter = { isOver: () => ++looks > 10 }
    const condition = compileCondition('context.items.all(item, context.flag)')
    const long = makeFacts({ context: { items: Array(1_000).fill(0), flag: true } })

    expect(condition.evaluate(long)).toBe(true)
    expect(condition.evaluate(long, meter)).toBe('error')
    expect(looks).toBe(11)
  })

  it('is compiled once a text', () => {
    const text = 'context.amount > 17.5'

    expect(compileCondition(text)).toBe(compileCondition(text))
  })
})

describe('the members that a condition reads', () => {
  it.each([
    ['context.amount > 1.0 && has(context.vendor.name)', ['amount', 'vendor']],
    ["context['amount'] == 1 || 'vendor' in context", ['amount', 'vendor']],
    ['context.items.all(item, item.amount > 1)', ['items']],
    ["action == 'a'", []],
    ['context[action] == 1', 'all'],
    ['size(context) > 1', 'all'],
    ['context.all(name, name != action)', 'all'],
    ['has(context.amount) && context == {}', 'all'],
  ])('%s: %j', (text, expected) => {
    const { reads } = compileCondition(text)

    expect(reads).toEqual(expected === 'all' ? 'all' : new Set(expected))
  })
})

describe('the warnings of a condition', () => {
  it.each([
    ["action == 'a'", []],
    ['context.vendor.name == action', []],
    ['context.age <= 10', []],
    ['context.cost > 1000', []],
    ['context.cost <= 1000', ['has only an upper bound']],
    ['has(context.cost) && 1000 >= context.cost', ['has only an upper bound']],
    ['has(context.cost) && context.cost <= 1000 && context.cost > 0', []],
    ['has(context.age) && context.age <= 10', []],
    ['amount_usd <= 1000', []],
    ['1 > 2', ['is never true']],
    ['true', ['is always true']],
    ['1 / 0 == 1', ['is always an error']],
  ])('of an allow: %s: %j', (text, expected) => {
    expect(compileCondition(text).warnings.allow).toEqual(
      expected.map((part) => expect.stringContaining(part) as unknown),
    )
  })

  it.each([
    ['has(context.x) && context.x > 5', ['context.x']],
    ['context.x > 5 && has(context.x)', ['context.x']],
    ["'x' in context && context.x > 5", ['context.x']],
    ["'x' in context && context['x'] > 5", ['context.x']],
    ['has(context.x) == true && context.x > 5', ['context.x']],
    ['has(context.x) ? context.x > 5 : false', ['context.x']],
    ['(has(context.x) ? context.x : 0.0) > 5.0', ['context.x']],
    ['!(!has(context.x) || context.x <= 5)', ['context.x']],
    ['has(amount_usd) && amount_usd > 5', ['amount_usd']],
    ["has(context.a.b) && context.a.b.endsWith('x')", ['context.a.b']],
    ["has(context.a) && context.a.b.endsWith('x')", ['context.a']],
    ["'b' in context.a && context.a.b.endsWith('x')", ['context.a.b']],
    ['has(context.a) && has(context.b) && context.a > context.b', ['context.a', 'context.b']],
    ["action == 'a' && (action == 'b' || (has(context.x) && context.x > 5))", ['context.x']],
    ["resource.type == 'a' || (has(context.x) && context.x > 5)", ['context.x']],
    ["has(agent.labels) && agent.labels.team == 'a'", ['agent.labels']],
    ['context.items.exists(i, has(i.price) && i.price > 5)', ['i.price']],
    ['size(context.items.filter(i, has(i.price) && i.price > 5)) > 0', ['i.price']],
    ['has(context.items) && context.items.exists(i, i.price > 5)', ['context.items']],
    ['context.x > 5', []],
    ['amount_usd > 5', []],
    ['!has(context.x) || context.x > 5', []],
    ['!has(amount_usd) || amount_usd > 5', []],
    ["!('x' in context) || context.x > 5", []],
    ['has(context.x) ? context.x > 5 : true', []],
    ['!(has(context.x) && context.x <= 5)', []],
    ['!has(context.x) || (has(context.x) && context.x > 5)', []],
    ['has(context.x) || context.x > 5', []],
    ["has(context.override) && action == 'a'", []],
    ["'admin' in context.roles && context.roles.size() > 1", []],
    ['context.items.all(i, !has(i.price) || i.price > 5)', []],
  ])('of a deny: %s is passed without %j', (text, paths) => {
    const passes = paths.map((path) => `a request without ${path} passes this rule`)
    expect(compileCondition(text).warnings.deny).toEqual(
      passes.map((part) => expect.stringContaining(part) as unknown),
    )
    expect(compileCondition(text).warnings.allow).toEqual([])
  })

  it.each([
    ['context.amount > 5', 1],
    ['context.amount_usd > 5', 1],
    ['!has(context.amount_usd) || context.amount_usd > 5', 1],
    ["context['amount'] > 5", 1],
    ['context.amount_usd > 5 || context.amount > 5', 0],
    ['amount_usd > 5', 0],
    ['context.args.amount > 5', 0],
  ])('about a spelling of the amount: %s: %i', (text, count) => {
    const named = [expect.stringContaining('read amount_usd') as unknown].slice(0, count)
    const { allow, deny } = compileCondition(text).warnings

    expect([allow, deny]).toEqual([named, named])
  })
})

describe('a condition that compares the path of a file as it was sent', () => {
  it.each([
    ["context.args.path.endsWith('secret.txt')", ['context.args.path']],
    ["context.args['file_path'].startsWith('/srv/')", ['context.args.file_path']],
    ["'/etc/passwd' == context.args.file", ['context.args.file']],
    ["context.args.source.path != '/a'", ['context.args.source.path']],
    ["context.args.path in ['/a', '/b'] || context.args.path == '/c'", ['context.args.path']],
    ["context.args.command.startsWith('rm')", []],
    ["context.args.path.contains('..')", []],
    ['size(context.args.path) > 9', []],
    ["context.files.exists(file, file.startsWith('/etc/'))", []],
    ["context.args.profile == 'a'", []],
  ])('has a warning for each effect that names it: %s', (text, paths) => {
    const named = paths.map(
      (path) => expect.stringMatching(`^${path} is compared as it was sent`) as unknown,
    )
    const { allow, deny } = compileCondition(text).warnings

    expect([allow, deny]).toEqual([named, named])
  })
})

describe('a text that is no condition', () => {
  it.each([
    ['', 1, 1, 'end of input'],
    ['context.amount >', 1, 16, 'found >'],
    ["action == 'a' &&\n  contxt == 1", 2, 3, 'there is no variable contxt'],
    ["'😀' == nobody", 1, 9, 'there is no variable nobody'],
    ['1 + 1', 1, 3, 'returns an int'],
    ['action', 1, 1, 'returns a string'],
    ['context', 1, 1, 'returns a map'],
    ["action.startswith('a')", 1, 7, 'there is no method startswith'],
    ["contains(action, 'a')", 1, 1, 'there is no function contains'],
    ["action.contains('a', 'b')", 1, 7, 'contains takes 1 arguments, not 2'],
    ['action > 5', 1, 8, 'compares a string with an int'],
    ['agent_id == 5', 1, 10, 'compares a string with an int'],
    ['now > 5', 1, 5, 'compares a timestamp with an int'],
    ['action && true', 1, 1, 'true or false is required'],
    ['!action', 1, 2, 'true or false is required'],
    ['action.name == 1', 1, 7, 'has no field name'],
    ['context.amount * 2 > 3.0', 1, 18, 'write 2.0'],
    ['context.amount + 1 > 3.0', 1, 18, 'write 1.0'],
    ['1 - context.amount > 3.0', 1, 1, 'write 1.0'],
    ['context.amount / size(context.items) > 1.0', 1, 18, 'convert it with double(…)'],
    ['context.amount % 2 == 0', 1, 16, 'with int(…)'],
    ['context.items.all(i, i.n + 1 > 2)', 1, 28, 'write 1.0'],
    ['99999999999999999999 > 1', 1, 1, 'exceeds 64 bits'],
    ['1e999 > 1.0', 1, 1, 'too large'],
    ['action.matches(agent_id)', 1, 16, 'must be a literal'],
    ["action.matches('(')", 1, 16, 'missing closing )'],
    [`action.matches('(a{900})${'a'.repeat(450)}')`, 1, 16, 'has too many repetitions'],
    ['google.protobuf.Struct{} == context', 1, 1, 'there is no type google.protobuf.Struct'],
    ['context.items.all(i, context.items.all(j, true))', 1, 35, 'loops inside a loop'],
    ['[1]' + '.map(x, x)'.repeat(5) + ' == [1]', 1, 4, 'more than 4 loops are chained'],
    ['[1].all(context, true)', 1, 4, 'the name context is already used'],
    ['[1].all(int, true)', 1, 4, 'the name int is already used'],
    ['math.greatest(1, 2) == 2', 1, 5, 'there is no method greatest'],
    ["'\\ud800' == action", 1, 1, 'surrogate'],
  ])('%j at %i:%i: %s', (text, line, column, message) => {
    const error = refusal(text)

    expect(error.message).toContain(message)
    expect([error.line, error.column]).toEqual([line, column])
  })

  it.each([
    ['2 KiB', `action == '${'ä'.repeat(1_100)}'`, 'at most 2048 are allowed'],
    ['256 parts', Array(70).fill('context.a == 1').join(' && '), 'more than 256 parts'],
    ['32 levels', `${'['.repeat(40)}1${']'.repeat(40)} == []`, 'more than 32 levels'],
    ['what the parser can take', `${'('.repeat(900)}true${')'.repeat(900)}`, 'nested too deeply'],
    ['128 elements', `1 in [${Array(129).fill('1').join(',')}]`, 'at most 128 are allowed'],
  ])('more than %s', (_, text, message) => {
    expect(refusal(text).message).toContain(message)
  })
})

describe('a stored condition', () => {
  it('that no longer compiles is an error, never true or false', () => {
    const condition = conditionOf('gone(context)')

    expect(condition.evaluate(facts)).toBe('error')
    expect(condition.reads).toBe('all')
  })

  it('is what it was when it was compiled', () => {
    const condition = conditionOf('context.amount > 1000')

    expect(condition.evaluate(facts)).toBe(true)
    expect(condition.reads).toEqual(new Set(['amount']))
  })
})
