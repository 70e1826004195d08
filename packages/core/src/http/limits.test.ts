import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRateLimit } from './limits.ts'

describe('createRateLimit', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
  afterEach(() => void vi.useRealTimers())

  it('lets a key have its requests of a second and counts them down', async () => {
    const limit = createRateLimit(3)

    const headers = [await limit.take('a'), await limit.take('a'), await limit.take('a')]

    expect(headers).toEqual(
      [2, 1, 0].map((left) => ({
        'RateLimit-Policy': '"key";q=3;w=1',
        RateLimit: `"key";r=${left};t=1`,
      })),
    )
  })

  it('refuses the next one, says how many there may be and when to come back', async () => {
    const limit = createRateLimit(1)
    await limit.take('a')

    await expect(limit.take('a')).rejects.toMatchObject({
      code: 'rate_limited',
      message: 'A key may send at most 1 requests per second',
      extras: {
        headers: {
          'Retry-After': '1',
          RateLimit: '"key";r=0;t=1',
          'RateLimit-Policy': '"key";q=1;w=1',
        },
      },
    })
  })

  it('goes on after its second, also for a key that kept on asking', async () => {
    const limit = createRateLimit(1)
    await limit.take('a')
    await vi.advanceTimersByTimeAsync(500)
    await expect(limit.take('a')).rejects.toMatchObject({ code: 'rate_limited' })

    await vi.advanceTimersByTimeAsync(501)

    await expect(limit.take('a')).resolves.toMatchObject({ RateLimit: '"key";r=0;t=1' })
  })

  it('counts each key by itself', async () => {
    const limit = createRateLimit(1)
    await limit.take('a')

    await expect(limit.take('b')).resolves.toMatchObject({ RateLimit: '"key";r=0;t=1' })
  })

  describe('a request that stands for several', () => {
    it('is charged for each', async () => {
      const limit = createRateLimit(10)
      await limit.take('a')

      expect((await limit.charge('a', 4))['RateLimit']).toBe('"key";r=5;t=1')
      expect((await limit.take('a'))['RateLimit']).toBe('"key";r=4;t=1')
    })

    it('may go beyond the second once, and is waited for as long as it stands for', async () => {
      const limit = createRateLimit(10)
      await limit.take('a')
      expect((await limit.charge('a', 24))['RateLimit']).toBe('"key";r=0;t=3')

      await vi.advanceTimersByTimeAsync(2_900)
      await expect(limit.take('a')).rejects.toMatchObject({ code: 'rate_limited' })
      await vi.advanceTimersByTimeAsync(101)
      await expect(limit.take('a')).resolves.toBeDefined()
    })

    it('is refused where others have gone beyond, however many came at once', async () => {
      const limit = createRateLimit(10)
      await Promise.all([1, 2, 3].map(() => limit.take('a')))
      const charged = await Promise.allSettled([1, 2, 3].map(() => limit.charge('a', 999)))

      expect(charged.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
      expect(charged[1]).toMatchObject({ reason: { code: 'rate_limited' } })
    })
  })
})
