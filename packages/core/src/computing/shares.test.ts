import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HeavyWorkQueue } from '../threads/heavy-work-queue.ts'
import { BATCH_MS, OrganizationShares } from './computing.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const seen = (shares: OrganizationShares, ...ids: string[]) => {
  for (const id of ids) shares.seen(id)
}

/** A transaction that another piece of heavy work is in the way of. */
function blocked(heavyWork: HeavyWorkQueue) {
  const { promise, resolve } = Promise.withResolvers<void>()
  void heavyWork.run('reader', () => promise)
  return resolve
}

/** Tells whether the transaction began at once. */
async function beginsAtOnce(
  shares: OrganizationShares,
  orgId: string,
  computedMs = 0,
): Promise<boolean> {
  let began = false
  void shares.run(orgId, shares.isHeavy(orgId), () => {
    began = true
    return Promise.resolve(computedMs)
  })
  await Promise.resolve()
  return began
}

describe('the shares of organizations', () => {
  it('make one that computed for long wait for other heavy work, where another is active', async () => {
    const heavyWork = new HeavyWorkQueue()
    const shares = new OrganizationShares(heavyWork)
    seen(shares, 'heavy', 'other')
    await shares.run('heavy', shares.isHeavy('heavy'), () => Promise.resolve(BATCH_MS))
    const end = blocked(heavyWork)

    expect(await beginsAtOnce(shares, 'heavy')).toBe(false)
    expect(await beginsAtOnce(shares, 'other')).toBe(true)
    end()
  })

  it('make it wait no longer after a second', async () => {
    const heavyWork = new HeavyWorkQueue()
    const shares = new OrganizationShares(heavyWork)
    seen(shares, 'heavy', 'other')
    await shares.run('heavy', shares.isHeavy('heavy'), () => Promise.resolve(BATCH_MS))
    await vi.advanceTimersByTimeAsync(1_001)
    seen(shares, 'heavy', 'other')
    const end = blocked(heavyWork)

    expect(await beginsAtOnce(shares, 'heavy')).toBe(true)
    end()
  })

  it('make nobody wait where no other is active', async () => {
    const heavyWork = new HeavyWorkQueue()
    const shares = new OrganizationShares(heavyWork)
    seen(shares, 'other')
    await vi.advanceTimersByTimeAsync(1_001)
    seen(shares, 'heavy')
    await shares.run('heavy', shares.isHeavy('heavy'), () => Promise.resolve(40))
    const end = blocked(heavyWork)

    expect(await beginsAtOnce(shares, 'heavy')).toBe(true)
    end()
  })
})
