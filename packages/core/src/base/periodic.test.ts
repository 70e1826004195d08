import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Periodic } from './periodic.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

describe('periodic work', () => {
  it('runs once each period until it is closed', async () => {
    let runs = 0
    const periodic = new Periodic(
      1000,
      () => Promise.resolve(void runs++),
      (error) => expect.fail(String(error)),
    )

    periodic.start()
    expect(runs).toBe(0)
    await vi.advanceTimersByTimeAsync(3000)
    expect(runs).toBe(3)
    await periodic.close()
    await vi.advanceTimersByTimeAsync(3000)

    expect(runs).toBe(3)
  })

  it('never runs twice at once, and waits for the current run when it is closed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let runs = 0
    const work = () => {
      runs++
      return promise
    }
    const periodic = new Periodic(1000, work, (error) => expect.fail(String(error)))
    periodic.start()
    await vi.advanceTimersByTimeAsync(5000)
    let isClosed = false

    const closing = periodic.close().then(() => (isClosed = true))
    await vi.advanceTimersByTimeAsync(1000)
    expect([runs, isClosed]).toEqual([1, false])
    resolve()
    await closing

    expect(isClosed).toBe(true)
  })

  it('continues after an error, which it reports', async () => {
    const errors: unknown[] = []
    const periodic = new Periodic(
      1000,
      () => Promise.reject(new Error('no connection')),
      (error) => errors.push(error),
    )

    periodic.start()
    await vi.advanceTimersByTimeAsync(2000)
    await periodic.close()

    expect(errors).toEqual([new Error('no connection'), new Error('no connection')])
  })
})
