import { celEnv, isCelError, parse, plan } from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { expect, it } from 'vitest'
import { FUNCTIONS } from '../src/rules/cel-functions.ts'
import { compileCondition, ConditionError } from '../src/rules/condition.ts'
import { makeFacts } from '../src/rules/facts.ts'
import { asJson, canonical, fromSuite, nameOf, promisedTests } from './support/cel-conformance.ts'
import type { ConformanceTest } from './support/cel-conformance.ts'
import { describeWithData } from './support/shared-data.ts'

/** Known gaps of the library: field names in backquotes, and map keys of another type. */
const KNOWN_MISSES = [
  'fields/qualified_identifier_resolution: {0: 1, 0u: 2}[0.0]',
  ...Array<string>(6).fill('fields/quoted_map_fields'),
]

/**
 * Deliberately stricter cases: text without plain digits is an error. NaN is neither above nor
 * below a limit, so a request with one would pass every comparison.
 */
const makesNoNumber = ({ expr }: ConformanceTest): boolean =>
  /double\("(?:NaN|-?Infinity)"\)/.test(expr)

type Functions = typeof FUNCTIONS

function evaluate(test: ConformanceTest, funcs: Functions): unknown {
  const env = celEnv({ namespace: test.container ?? '', funcs })
  const bindings = Object.entries(test.bindings ?? {}).map(([name, { value }]) => [
    name,
    fromSuite(value),
  ])
  try {
    const result = plan(env, parse(test.expr))(Object.fromEntries(bindings) as never)
    return isCelError(result) ? 'error' : canonical(result)
  } catch {
    return 'error'
  }
}

function isPassed(test: ConformanceTest, funcs: Functions): boolean {
  const result = evaluate(test, funcs)
  if (test.evalError !== undefined) return result === 'error'
  const { value } = test
  if (value && 'typeValue' in value) return result === `type ${String(value['typeValue'])}`
  return result === canonical(value ? fromSuite(value) : true)
}

const misses = (tests: readonly ConformanceTest[], funcs: Functions): string[] =>
  tests
    .filter((test) => !isPassed(test, funcs))
    .map(({ file, section, expr }) =>
      section === 'quoted_map_fields' ? `${file}/${section}` : `${file}/${section}: ${expr}`,
    )

describeWithData('cel')('the public conformance suite of CEL', () => {
  it('has the 1,283 tests that we promise', () => {
    expect(promisedTests()).toHaveLength(1_283)
  })

  it('is passed by the library but for the 7 tests that are known', () => {
    expect(misses(promisedTests(), [...strings]).toSorted()).toEqual(KNOWN_MISSES)
  })

  it('is passed by the functions of conditions as well', () => {
    const [strict, others] = [
      promisedTests().filter(makesNoNumber),
      promisedTests().filter((test) => !makesNoNumber(test)),
    ]

    expect(misses(others, FUNCTIONS).toSorted()).toEqual(KNOWN_MISSES)
    expect(strict).toHaveLength(11)
    expect(strict.map((test) => evaluate(test, FUNCTIONS))).toEqual(strict.map(() => 'error'))
  })

  it('is passed by conditions, wherever they take the text', () => {
    const wrong: string[] = []
    let taken = 0
    const tests = promisedTests().filter(
      (test) => !test.bindings && !test.container && !makesNoNumber(test),
    )
    for (const test of tests) {
      const expected = test.value ? asJson(test.value) : true
      if (test.evalError === undefined && expected === undefined) continue
      const text = test.evalError === undefined ? `(${test.expr}) == context.expected` : test.expr
      try {
        const answer = compileCondition(text).evaluate(makeFacts({ context: { expected } }))
        if (answer !== (test.evalError === undefined ? true : 'error'))
          wrong.push(`${answer} ${nameOf(test)}`)
        taken++
      } catch (error) {
        if (!(error instanceof ConditionError)) throw error
      }
    }

    expect(wrong).toEqual([])
    expect(taken).toBeGreaterThan(600)
  })
})
