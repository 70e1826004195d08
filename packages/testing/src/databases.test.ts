import { afterEach, describe, expect, it, vi } from 'vitest'
import { citusNodes, DIALECTS, fullDialects, someDialects } from './databases.ts'
import { isCompleteRun, isFullRun } from './runs.ts'

describe.skipIf(citusNodes().length > 0)('the databases of a test', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('are one of the two in each run, and each in some run; both in a complete run', () => {
    vi.stubEnv('REMIT_TEST_DIALECT', undefined)
    const runs = Array.from({ length: 100 }, () => someDialects().join())

    expect(new Set(runs)).toEqual(new Set(isCompleteRun ? [DIALECTS.join()] : DIALECTS))
  })

  it.each([
    ['sqlite', ['sqlite']],
    ['postgres', ['postgres']],
  ])('are chosen by REMIT_TEST_DIALECT=%s', (chosen, expected) => {
    vi.stubEnv('REMIT_TEST_DIALECT', chosen)

    expect(someDialects()).toEqual(expected)
    expect(fullDialects()).toEqual(isFullRun ? DIALECTS : expected)
  })

  it.each(['', 'mysql', 'postgresql', 'both'])('are never none: "%s" is refused', (chosen) => {
    vi.stubEnv('REMIT_TEST_DIALECT', chosen)

    expect(() => someDialects()).toThrow('REMIT_TEST_DIALECT must be one of sqlite, postgres')
  })
})
