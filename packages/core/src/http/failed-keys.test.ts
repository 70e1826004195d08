import { describe, expect, it } from 'vitest'
import { createFailedKeys } from './limits.ts'

describe('wrong keys of an address', () => {
  const isLimited = async (first: string, second: string): Promise<boolean> => {
    const failed = createFailedKeys(1)
    await failed.take(first)
    return failed.take(second).then(
      () => false,
      (error: unknown) => (error as { code: string }).code === 'rate_limited',
    )
  }

  it.each([
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.1', '::ffff:10.0.0.1', true],
    ['2001:db8::1', '2001:db8::ffff:2', true],
    ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
  ])('%s and %s have one limit: %s', async (first, second, together) => {
    expect(await isLimited(first, second)).toBe(together)
  })
})
