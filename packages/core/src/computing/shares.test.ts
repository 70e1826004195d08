import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BATCH_MS } from './batch-time.ts'
import { Shares } from './shares.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const seen = (shares: Shares, ...ids: string[]) => {
  for (const id of ids) shares.seen(id, performance.now())
}

/** Milliseconds until the organization may go on. */
async function waitOf(shares: Shares, orgId: string): Promise<number> {
  const began = performance.now()
  const ended = shares.turn(orgId).then(() => performance.now() - began)
  await vi.advanceTimersByTimeAsync(1_000)
  return ended
}

describe('the shares of organizations', () => {
  it('make one that computed for long wait as long, where another is active', async () => {
    const shares = new Shares()
    seen(shares, 'heavy', 'other')
    shares.charge('heavy', 40)

    expect(await waitOf(shares, 'heavy')).toBe(40)
    expect(await waitOf(shares, 'heavy')).toBe(0)
  })

  it('make nobody wait where no other is active', async () => {
    const shares = new Shares()
    seen(shares, 'other')
    await vi.advanceTimersByTimeAsync(1_001)
    seen(shares, 'heavy')
    shares.charge('heavy', 40)

    expect(await waitOf(shares, 'heavy')).toBe(0)
  })

  it('make nobody wait who stayed within the time of a transaction', async () => {
    const shares = new Shares()
    seen(shares, 'light', 'other')
    shares.charge('light', BATCH_MS - 0.1)

    expect(await waitOf(shares, 'light')).toBe(0)
  })

  it('leave half of the time to the others, however many compute for long', async () => {
    const shares = new Shares()
    seen(shares, 'a', 'b', 'other')
    shares.charge('a', 40)
    shares.charge('b', 40)

    expect(await waitOf(shares, 'b')).toBe(120)
  })
})
