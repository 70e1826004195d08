import { describe, expect, it } from 'vitest'
import { computedMs } from '../base/clock.ts'
import { BATCH_MS, BatchTime } from './computing.ts'

/** Computes for some milliseconds of this thread. */
function compute(ms: number): void {
  const end = computedMs() + ms
  while (computedMs() < end);
}

describe('the computing time of a transaction', () => {
  it('is enough for all items that compute little', () => {
    const time = new BatchTime()
    const items = Array.from({ length: 512 }, (_, i) => i)

    expect(time.firstOf(items, (i) => i * 2)).toEqual(items.map((i) => i * 2))
  })

  it('is enough for one item, however long that computes', () => {
    const time = new BatchTime()
    const done = time.firstOf([1, 2, 3], (i) => {
      compute(BATCH_MS)
      return i
    })

    expect(done).toEqual([1])
    expect(time.spentMs).toBeGreaterThanOrEqual(BATCH_MS)
  })

  it('is shared by all that compute in the transaction', () => {
    const time = new BatchTime()
    time.firstOf([1], () => compute(BATCH_MS))

    expect(time.firstOf([1], () => 'too much')).toEqual([])
  })

  it('does not run while the machine does something else', () => {
    const time = new BatchTime()
    const pause = new Int32Array(new SharedArrayBuffer(4))
    const done = time.firstOf([1, 2, 3], (i) => {
      Atomics.wait(pause, 0, 0, 2 * BATCH_MS)
      return i
    })

    expect(done).toEqual([1, 2, 3])
  })
})
