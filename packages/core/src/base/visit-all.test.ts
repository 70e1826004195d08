import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { visitAll } from './visit-all.ts'

describe('work on many items', () => {
  it('starts in their order, with at most as many at a time as permitted', async () => {
    const started: number[] = []
    let running = 0
    let peak = 0

    await visitAll([1, 2, 3, 4, 5], 2, async (item) => {
      started.push(item)
      peak = Math.max(peak, ++running)
      await setImmediate()
      running--
    })

    expect(started).toEqual([1, 2, 3, 4, 5])
    expect(peak).toBe(2)
    expect(running).toBe(0)
  })

  it('rejects with the first error, and the other items are visited', async () => {
    const visited: number[] = []
    const work = async (item: number) => {
      await setImmediate()
      if (item === 1) throw new Error('the first')
      visited.push(item)
    }

    await expect(visitAll([1, 2, 3], 2, work)).rejects.toThrow('the first')

    await expect.poll(() => visited).toEqual([2, 3])
  })
})
