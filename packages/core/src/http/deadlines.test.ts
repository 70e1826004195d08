import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Deadlines } from './pipeline.ts'

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

  it('forget who is done or too late, in whatever order', async () => {
    const works = Array.from({ length: 5 }, () => Promise.withResolvers<number>())
    const guarded = works.map(({ promise }) => deadlines.guard(promise).catch(() => 'late'))
    expect(deadlines.size).toBe(5)

    works[1]?.resolve(1)
    works[4]?.reject(new Error('broken'))
    works[0]?.resolve(0)
    await Promise.all([guarded[1], guarded[4], guarded[0]])
    expect(deadlines.size).toBe(2)

    await vi.advanceTimersByTimeAsync(32_000)
    expect(await Promise.all([guarded[2], guarded[3]])).toEqual(['late', 'late'])
    expect(deadlines.size).toBe(0)

    const next = [1, 2].map(() => deadlines.guard(new Promise(() => undefined)).catch(() => 'late'))
    works[2]?.resolve(2)
    works[3]?.reject(new Error('broken late'))
    await Promise.allSettled([works[2]?.promise, works[3]?.promise])
    expect(deadlines.size).toBe(2)
    await vi.advanceTimersByTimeAsync(32_000)
    expect(await Promise.all(next)).toEqual(['late', 'late'])
    expect(deadlines.size).toBe(0)
  })
})
