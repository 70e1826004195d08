import { describe, expect, it } from 'vitest'
import { code, entry, score } from './support.ts'

const call = (name: string, args: unknown = {}) => ({ name, arguments: args })

describe('list_contains', () => {
  const of = (output: unknown, expected: unknown, params = {}) =>
    score('list_contains', { output, expected }, params)

  it('pairs items in the best way, not each with the first that fits', async () => {
    expect(await of(['ab', 'aa'], ['aa', 'bb'])).toBe(0.75)
    expect(await of(['a', 'b'], ['b', 'a'])).toBe(1)
  })

  it('counts extra items unless they are allowed', async () => {
    expect(await of(['a', 'x'], ['a'], { similarity: 'exact' })).toBe(0.5)
    expect(await of(['a', 'x'], ['a'], { similarity: 'exact', allow_extra: true })).toBe(1)
    expect(await of(['a'], ['a', 'x'], { similarity: 'exact', allow_extra: true })).toBe(0.5)
  })

  it('reads JSON text, and compares other values as canonical JSON', async () => {
    expect(await of('["a", {"y":1,"x":2}]', [{ x: 2, y: 1 }, 'a'])).toBe(1)
    expect(await of([1], ['1'])).toBe(1)
    expect(await of([], [])).toBe(1)
    expect(await of([], ['a'])).toBe(0)
  })

  it('gives 0 for an output that is no list, and no score where no list is expected', async () => {
    expect(await of('a, b', ['a'])).toBe(0)
    expect(await of({ a: 1 }, ['a'])).toBe(0)
    expect(await code('list_contains', { output: ['a'], expected: 'a' })).toBe('invalid_expected')
    const many = Array.from({ length: 301 }, () => 'a')
    expect(await code('list_contains', { output: many, expected: ['a'] })).toBe('limit_exceeded')
  })

  it('names the partner of each item', async () => {
    const found = await entry('list_contains', { output: ['x', 'b', 'a'], expected: ['a', 'b'] })

    expect(found.metadata).toEqual({ pairs: [null, 1, 0] })
  })
})

describe('tool_call_match', () => {
  const matches = (actual: unknown[], expected: unknown[], params = {}) =>
    score('tool_call_match', { tool_calls: actual, expected_tool_calls: expected }, params)
  const [a, b, c] = [call('a', { x: 1 }), call('b', { x: 1 }), call('c', { x: 1 })]

  it.each([
    ['strict', [a, b], [a, b], 1],
    ['strict', [b, a], [a, b], 0],
    ['strict', [a], [a, b], 0],
    ['unordered', [b, a], [a, b], 1],
    ['unordered', [a, a], [a, b], 0],
    ['superset', [c, b, a], [a, b], 1],
    ['superset', [a], [a, a], 0],
    ['subset', [b], [a, b], 1],
    ['subset', [b, c], [a, b], 0],
    ['strict', [], [], 1],
    ['superset', [a], [], 1],
    ['subset', [], [a], 1],
  ])('%s: %j against %j', async (mode, actual, expected, wanted) => {
    expect(await matches(actual, expected, { mode })).toBe(wanted)
  })

  it('finds a full pairing where taking the first partner that fits finds none', async () => {
    const actual = [call('f', { x: 1, y: 2 }), call('f', { x: 1 })]
    const expected = [call('f', { x: 1 }), call('f', { x: 1, y: 2 })]

    expect(await matches(actual, expected, { mode: 'unordered', args: 'superset' })).toBe(1)
  })

  it.each([
    ['exact', { x: 1, y: 2 }, { y: 2, x: 1 }, 1],
    ['exact', { x: 1 }, { x: 1, y: 2 }, 0],
    ['exact', { x: '1' }, { x: 1 }, 0],
    ['exact', '{"x": 1.0}', { x: 1 }, 1],
    ['exact', 'not json', {}, 0],
    ['exact', undefined, {}, 1],
    ['ignore', { x: 1 }, { z: 9 }, 1],
    ['superset', { x: 1, y: 2 }, { x: 1 }, 1],
    ['superset', { x: 1 }, { x: 1, y: 2 }, 0],
    ['superset', { x: 1 }, { constructor: {} }, 0],
    ['subset', { x: 1 }, { x: 1, y: 2 }, 1],
    ['subset', { x: 1, y: 2 }, { x: 1 }, 0],
    ['superset', [1], [1], 1],
  ])('%s arguments: %j against %j', async (args, own, wanted, fits) => {
    expect(await matches([{ name: 'f', arguments: own }], [call('f', wanted)], { args })).toBe(fits)
  })

  it("reads OpenAI's shape", async () => {
    const openai = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }

    expect(await matches([openai], [call('f', { x: 1 })])).toBe(1)
  })

  it.each([
    ['args', { name: 'f', args: { x: 1 }, id: 'c1', type: 'tool_call' }],
    ['input', { type: 'tool_use', id: 't1', name: 'f', input: { x: 1 } }],
    ['parameters', { name: 'f', parameters: '{"x":1}' }],
    ['args inside of function', { function: { name: 'f', args: { x: 1 } }, arguments: null }],
  ])('reads %s as the arguments, of either call', async (_, given) => {
    const scores = [
      await matches([given], [call('f', { x: 1 })]),
      await matches([call('f', { x: 1 })], [given]),
      await matches([given], [call('f', { x: 9_000 })]),
      await matches([call('f')], [given]),
    ]
    expect(scores).toEqual([1, 1, 0, 0])
  })

  it('takes blank arguments for none, of either call', async () => {
    const none = [{ name: 'f' }, { id: 'c1', type: 'function', function: { name: 'f' } }]
    for (const member of ['arguments', 'args', 'input', 'parameters'])
      for (const value of ['', ' \n', null, {}, '{}']) none.push({ name: 'f', [member]: value })
    for (const given of none) {
      expect(await matches([given], [call('f')]), JSON.stringify(given)).toBe(1)
      expect(await matches([call('f')], [given]), JSON.stringify(given)).toBe(1)
    }
  })

  it.each(['tool_call_match', 'tool_call_f1'])(
    '%s: a shape that it does not know is an error, and no call without arguments',
    async (scorer) => {
      const unknown = [
        null,
        'f',
        5,
        [],
        {},
        { name: 5 },
        { name: 'f', params: { x: 1 } },
        { name: 'f', kwargs: { x: 1 } },
        { toolName: 'f', input: { x: 1 } },
        { function: 'f', arguments: {} },
        { function: { name: 'f' }, arguments: { x: 1 } },
        { name: 'f', args: { x: 1 }, arguments: { x: 2 } },
      ]
      for (const given of unknown) {
        const calls = { tool_calls: [given], expected_tool_calls: [call('f')] }
        expect(await code(scorer, calls), JSON.stringify(given)).toBe('invalid_tool_calls')
        const swapped = { tool_calls: [call('f')], expected_tool_calls: [given] }
        expect(await code(scorer, swapped), JSON.stringify(given)).toBe('invalid_expected')
      }
    },
  )

  it.each(['{', '{"x":1,"x":2}', '{"x":12345678901234567891}', '{"x":"\\ud800"}', '1],[1', '1,1'])(
    'takes arguments that readers read differently for wrong ones, and expected ones for a fault of the test: %s',
    async (text) => {
      const wrong = { name: 'f', arguments: text }
      for (const args of [{}, { x: 1 }, { x: 2 }, { x: 12345678901234567000 }, { x: '\ud800' }])
        expect(await matches([wrong], [call('f', args)])).toBe(0)
      expect(await code('tool_call_match', { tool_calls: [], expected_tool_calls: [wrong] })).toBe(
        'invalid_expected',
      )
    },
  )

  it('takes a text of one value for that value', async () => {
    expect(await matches([call('f', '5')], [call('f', 5)])).toBe(1)
    expect(await matches([call('f', 'null')], [call('f', 'null')])).toBe(1)
  })

  it('needs both lists', async () => {
    expect(await code('tool_call_match', { tool_calls: [] })).toBe('missing_field')
    expect(await code('tool_call_match', { tool_calls: null, expected_tool_calls: [] })).toBe(
      'missing_field',
    )
  })

  it('has a limit', async () => {
    const many = Array.from({ length: 1_001 }, () => a)

    expect(await code('tool_call_match', { tool_calls: many, expected_tool_calls: [] })).toBe(
      'limit_exceeded',
    )
  })
})

describe('tool_call_f1', () => {
  const f1 = (actual: unknown[], expected: unknown[], params = {}) =>
    score('tool_call_f1', { tool_calls: actual, expected_tool_calls: expected }, params)

  it('counts calls as often as they occur', async () => {
    expect(await f1([call('a'), call('a')], [call('a'), call('a')])).toBe(1)
    expect(await f1([call('a')], [call('a'), call('a')])).toBeCloseTo(2 / 3, 12)
    expect(await f1([], [])).toBe(1)
    expect(await f1([], [call('a')])).toBe(0)
    expect(await f1([call('a', { x: 1 })], [call('a', { x: 2 })])).toBe(0)
    expect(await f1([call('a', { x: 1 })], [call('a', { x: 2 })], { args: 'ignore' })).toBe(1)
  })
})

describe('trajectory_match', () => {
  const of = (trajectory: unknown[], expected_trajectory: unknown[], mode: string) =>
    score('trajectory_match', { trajectory, expected_trajectory }, { mode })

  it.each([
    ['strict', 'a b', 'a b', 1],
    ['strict', 'b a', 'a b', 0],
    ['strict', 'a b c', 'a b', 0],
    ['strict', '', '', 1],
    ['in_order', 'x a y b', 'a b', 1],
    ['in_order', 'b a', 'a b', 0],
    ['in_order', 'a', '', 1],
    ['unordered', 'b a a', 'a b a', 1],
    ['unordered', 'b a', 'a b a', 0],
    ['superset', 'c b a', 'a b', 1],
    ['superset', 'a b', 'a a', 0],
    ['subset', 'a', 'a b', 1],
    ['subset', 'a a', 'a b', 0],
    ['lcs', 'a x b', 'a b c', 2 / 3],
    ['lcs', '', '', 1],
    ['lcs', 'a', '', 0],
    ['lcs', '', 'a', 0],
    ['edit', 'a x b', 'a b', 2 / 3],
    ['edit', '', '', 1],
    ['edit', 'a', '', 0],
  ])('%s: %j against %j', async (mode, actual, expected, wanted) => {
    const steps = (text: string) => text.split(' ').filter((step) => step !== '')

    expect(await of(steps(actual), steps(expected), mode)).toBeCloseTo(wanted, 12)
  })

  it('takes steps as names or as objects with a name', async () => {
    expect(await of([{ name: 'a', at: 1 }, 'b'], ['a', { name: 'b' }], 'strict')).toBe(1)
  })

  it('takes a nameless step for a wrong one, and an expected one for a fault of the test', async () => {
    for (const mode of ['strict', 'in_order', 'unordered', 'superset', 'lcs', 'edit'])
      expect(await of([null], ['a'], mode)).toBe(0)
    expect(await of([{}], [], 'subset')).toBe(0)
    expect(
      await code('trajectory_match', { trajectory: [], expected_trajectory: [{ step: 'a' }] }),
    ).toBe('invalid_expected')
    expect(await code('trajectory_match', { expected_trajectory: [] })).toBe('missing_field')
  })
})
