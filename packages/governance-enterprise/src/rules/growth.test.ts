import { celList, celMap, celUint, isCelList } from '@bufbuild/cel'
import type { CelFunc, CelInput } from '@bufbuild/cel'
import { create } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { DurationSchema, timestampFromMs, TimestampSchema } from '@bufbuild/protobuf/wkt'
import fc from 'fast-check'
import { runs, sampled } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { bounded, MAX_LIST, MAX_TEXT } from './cel-costs.ts'
import { FUNCTIONS } from './cel-functions.ts'
import { compileCondition, ConditionError } from './condition.ts'
import { makeFacts } from './facts.ts'

// Without bounds a case takes minutes, or all memory: its test never ends well.
const SOON = { timeout: 60_000 }

/** A list that takes no room and has 8^20 numbers in it. */
const endless = (): CelInput =>
  Array.from({ length: 20 }).reduce<CelInput>(
    (inner) => celList(Array<CelInput>(8).fill(inner)),
    celList([1n]),
  )

const text = 'a'.repeat(60_000)
const moment = reflect(TimestampSchema, timestampFromMs(0))
const entries = Array.from({ length: 5_000 }, (_, i): [string, CelInput] => [`é${i}`, text])

/** Of every type, what makes calls take long or give much. */
const GREEDY: Readonly<Record<string, () => CelInput[]>> = {
  string: () => [
    text,
    `${'a'.repeat(500)}b${'a'.repeat(500)}`,
    '',
    '%s'.repeat(1_000),
    '%.20f'.repeat(1_000),
    'Europe/Berlin',
    '(a{900})',
  ],
  bytes: () => [Buffer.from(text)],
  list: () => [
    endless(),
    celList(Array<CelInput>(1_000).fill(text)),
    celList(Array<CelInput>(1_000).fill(1.5)),
    celList([endless()]),
    celList(Array<CelInput>(30_000).fill('')),
  ],
  map: () => [celMap(new Map(entries))],
  dyn: () => [text, endless(), celMap(new Map(entries))],
  int: () => [2n ** 62n, 5n, -1n],
  uint: () => [celUint(2n ** 62n)],
  double: () => [1e300],
  bool: () => [true],
  type: () => [],
  null_type: () => [null],
  'google.protobuf.Timestamp': () => [moment],
  'google.protobuf.Duration': () => [reflect(DurationSchema, create(DurationSchema))],
}

/** All calls of a function with the values above. */
function callsOf({ target, arguments: takes }: CelFunc): CelInput[][] {
  const types = target ? [target, ...takes] : takes
  return types.reduce<CelInput[][]>(
    (calls, { name }) =>
      calls.flatMap((call) => (GREEDY[name]?.() ?? []).map((value) => [...call, value])),
    [[]],
  )
}

function resultOf(func: CelFunc, values: CelInput[]): unknown {
  const [target, args] = func.target ? [values[0], values.slice(1)] : [undefined, values]
  return func.call(0, target as never, args as never[])
}

/** The size of a text or a list, on one scale. */
const sizeOf = (value: unknown): number =>
  typeof value === 'string'
    ? value.length
    : isCelList(value)
      ? value.size * (MAX_TEXT / MAX_LIST)
      : 0

describe('a function of conditions', () => {
  it.each(sampled(FUNCTIONS).map((func) => [func.id, func] as const))(
    '%s gives nothing huge and stops soon, however often it is called',
    SOON,
    (_, func) => {
      const calls = callsOf(func)
      for (const values of calls.length > 20 ? sampled(calls) : calls) {
        let largest = 0
        bounded(() => {
          for (let turn = 0; turn < 200; turn++)
            largest = Math.max(largest, sizeOf(resultOf(func, values)))
        })
        expect(largest).toBeLessThanOrEqual(MAX_TEXT)
      }
    },
  )
})

const growing = fc.constantFrom(
  'x + x + x + x + x + x + x + x',
  '[x, x, x, x, x, x, x, x]',
  '"%s%s%s%s".format([x, x, x, x])',
  '[x, x, x, x].join(context.text)',
  '"%x".format([x])',
  'strings.quote(x)',
  'x.replace("", context.text)',
  'x.replace("a", context.text)',
  'string(bytes(x) + bytes(x))',
  'x.split("")',
  'context.many.join(x)',
  'context.many + [x] + context.many',
)
const ending = fc.constantFrom(
  '.size() > 5',
  '.split("").size() > 5',
  '.exists(y, y == 2)',
  '.all(y, y in context.many)',
  ' == context.many',
  '[0].contains(context.text)',
  '[0].lastIndexOf("ab") > 0',
  '.map(y, "%s".format([y])).join("").matches("(a|b)+c")',
)
const first = fc.constantFrom(
  '[1]',
  '["aaaaaaaaaaaaaaa"]',
  '[[1, 1, 1, 1]]',
  'context.many',
  '[context]',
)

const facts = makeFacts({
  context: { many: Array<string>(1_000).fill('a'.repeat(20)), text: 'a'.repeat(30_000) },
})

describe('a condition that makes much of little', () => {
  it('gets an answer soon, or is refused', SOON, () => {
    fc.assert(
      fc.property(
        first,
        fc.array(growing, { minLength: 1, maxLength: 9 }),
        ending,
        (start, loops, end) => {
          try {
            const grown = loops.reduce<string>((range, body) => `${range}.map(x, ${body})`, start)
            compileCondition(`${grown}${end}`).evaluate(facts)
          } catch (error) {
            if (!(error instanceof ConditionError)) throw error
          }
        },
      ),
      { numRuns: runs(150) },
    )
  })

  it.each([
    ['texts', `["aaaaaaaaaaaaaaa"]${'.map(x, x+x+x+x+x+x+x+x)'.repeat(4)}[0].split("").size() > 5`],
    ['lists', `2 in [[1, 1, 1, 1]]${'.map(x, x+x+x+x+x+x+x+x)'.repeat(4)}[0].map(y, y)`],
    ['what it joins', 'size(context.many.join(context.text)) > 5'],
    ['pieces', 'context.many.join(context.text).split("a").size() > 5'],
    [
      'what it formats',
      `"%s".format([[1]${`.map(x, [${Array(30).fill('x').join(',')}])`.repeat(4)}]) == ""`,
    ],
    ['what it compares', 'context.many.exists(x, context.many.exists_one(y, y == x) == [x])'],
  ])('is an error for too many %s, or refused', (_, condition) => {
    let answer: unknown
    try {
      answer = compileCondition(condition).evaluate(facts)
    } catch (error) {
      if (!(error instanceof ConditionError)) throw error
      answer = 'refused'
    }

    expect(['error', 'refused']).toContain(answer)
  })

  it('is an error even where the other side would settle it', () => {
    const condition = compileCondition(
      'context.many.all(x, context.many.join(x).size() > 5) || context.text != ""',
    )

    expect(condition.evaluate(facts)).toBe('error')
  })

  it('computes nothing after its time limit, although CEL continues after an error', () => {
    let looks = 0
    const meter = { isOver: () => ++looks >= 3 }
    const condition = compileCondition('context.many.exists(x, context.text.contains("ab"))')

    expect(condition.evaluate(facts, meter)).toBe('error')
    expect(looks).toBe(3)
  })

  it('is not evaluated when it is stored', () => {
    const heavy = Array(10)
      .fill('[0,1,2,3,4,5,6,7].all(x, "%.9f".format([1.5]) != "")')
      .join(' && ')

    expect(compileCondition(heavy).warnings).toEqual({ allow: [], deny: [] })
    expect(compileCondition(heavy).evaluate(facts)).toBe(true)
  })
})
