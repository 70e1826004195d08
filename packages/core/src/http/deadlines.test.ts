import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Deadlines } from './deadlines.ts'

describe('Deadlines', () => {
  let deadlines: Deadlines
  beforeEach(() => {
    vi.useFakeTimers()
    deadlines = new Deadlines(30_000)
  })
  afterEach(() => {
    deadlines.close()
    vi.useRealTimers()
  })

  it('give back what the work gives', async () => {
    await expect(deadlines.guard(Promise.resolve(7))).resolves.toBe(7)
    await expect(deadlines.guard(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })

  it('answer for work that takes longer, and do not before', async () => {
    const outcome = deadlines.guard(new Promise(() => undefined)).catch((error: unknown) => error)
    let isOver = false
    void outcome.then(() => (isOver = true))

    await vi.advanceTimersByTimeAsync(30_000)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(2_000)

    expect(await outcome).toMatchObject({
      code: 'deadline_exceeded',
      status: 503,
      extras: { headers: { 'Retry-After': '1' } },
    })
  })

  it('give an endpoint that holds its answer the time it asks for', async () => {
    const held = deadlines.guard(new Promise(() => undefined), 60_000).catch(() => 'late')
    let isOver = false
    void held.then(() => (isOver = true))

    await vi.advanceTimersByTimeAsync(60_000)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(2_000)

    expect(await held).toBe('late')
  })

  it('count for each by itself', async () => {
    const first = deadlines.guard(new Promise(() => undefined)).catch(() => 'late')
    await vi.advanceTimersByTimeAsync(20_000)
    const { promise, resolve } = Promise.withResolvers<string>()
    const second = deadlines.guard(promise)
    await vi.advanceTimersByTimeAsync(12_000)

    resolve('in time')

    expect(await Promise.all([first, second])).toEqual(['late', 'in time'])
  })
})
