import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Queue } from './queue.ts'
import type { Work } from './work.ts'

const piece = (): Work => ({
  lane: null,
  job: null,
  alone: null,
  origin: { caller: null, claim: null, wantsNote: false },
  caller: null,
  since: 0,
  resolve: () => undefined,
  reject: () => undefined,
})

const change = (): Work => ({
  ...piece(),
  alone: { run: () => Promise.reject(new Error('not run here')), moves: true, evenIfForged: false },
})

describe('a queue', () => {
  it('gives what shares a transaction, and a change by itself, in their order', () => {
    const queue = new Queue(3)
    const pieces = [piece(), piece(), change(), change(), piece(), piece(), piece(), piece()]
    for (const one of pieces) queue.push(one)
    const taken: Work[][] = []
    while (queue.length > 0) taken.push(queue.take())

    expect(taken.map((batch) => batch.length)).toEqual([2, 1, 1, 3, 1])
    expect(taken.flat()).toEqual(pieces)
  })

  it('gives fewer where fewer are asked for, and the others later', () => {
    const queue = new Queue(8)
    for (let i = 0; i < 7; i++) queue.push(piece())

    expect([queue.take(3), queue.take(), queue.take()].map((batch) => batch.length)).toEqual([
      3, 4, 0,
    ])
  })

  it('gives what was put back first, in the order of arrival, and fewer at a time for a while', () => {
    const queue = new Queue(8)
    const pieces = Array.from({ length: 16 }, (_, since) => ({ ...piece(), since }))
    for (const one of pieces) queue.push(one)
    const [first, ...others] = queue.take()
    queue.putBack(others.toReversed(), 1)
    const taken: Work[][] = []
    while (queue.length > 0) taken.push(queue.take())

    expect(taken.map((batch) => batch.length)).toEqual([2, 4, 8, 1])
    expect([first, ...taken.flat()]).toEqual(pieces)
  })
})

describe('a queue that gathers', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const queueOf = (length: number, maxBatch = 512) => {
    const queue = new Queue(maxBatch)
    for (let i = 0; i < length; i++) queue.push(piece())
    return queue
  }
  /** Returns whether it has ended. */
  const gathering = (queue: Queue, answered: number, tookMs: number) => {
    let isOver = false
    void queue.gather(answered, tookMs).then(() => (isOver = true))
    return async () => {
      for (let turn = 0; turn < 20; turn++) await setImmediate()
      return isOver
    }
  }

  it('takes what arrives turn by turn', async () => {
    const queue = queueOf(1)
    const gathered = queue.gather(0, 0)
    for (let turn = 0; turn < 3; turn++) {
      queue.push(piece())
      await setImmediate()
    }
    await gathered

    expect(queue.take()).toHaveLength(4)
  })

  it.each([
    ['eight turns at most', 0, 8],
    ['one turn, where turns are long', 6, 1],
  ])('takes what arrives in %s', async (_, turnMs, most) => {
    const queue = queueOf(1)
    let turns = 0
    const gathered = { isOver: false }
    void queue.gather(0, 0).then(() => (gathered.isOver = true))
    while (!gathered.isOver) {
      turns++
      queue.push(piece())
      vi.advanceTimersByTime(turnMs)
      await setImmediate()
    }

    expect(turns).toBe(most)
  })

  it('waits until those are back who have been answered, and no longer', async () => {
    const queue = queueOf(1)
    const isOver = gathering(queue, 2, 1_000)

    expect(await isOver()).toBe(false)
    queue.push(piece())
    expect(await isOver()).toBe(false)
    queue.push(piece())
    expect(await isOver()).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not wait when a millisecond brings nobody', async () => {
    const queue = queueOf(1)
    const isOver = gathering(queue, 20, 1_000)
    expect(await isOver()).toBe(false)

    queue.push(piece())
    await vi.advanceTimersByTimeAsync(1)
    expect(await isOver()).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await isOver()).toBe(true)
  })

  it.each([
    ['half as long as the last commit took', 8, 4],
    ['20 ms at most, if the database has been slow', 5_000, 20],
  ])('waits %s, however many are still coming', async (_, tookMs, most) => {
    const queue = queueOf(1)
    const isOver = gathering(queue, 500, tookMs)
    for (let ms = 0; ms < most; ms++) {
      expect(await isOver()).toBe(false)
      queue.push(piece())
      await vi.advanceTimersByTimeAsync(1)
    }

    expect(await isOver()).toBe(true)
  })

  it.each([0, 1, 2])('does not wait where a change comes after %i others', async (before) => {
    const queue = queueOf(before)
    queue.push(change())

    expect(await gathering(queue, 20, 1_000)()).toBe(true)
  })

  it.each([
    ['nobody was answered', queueOf(1), 0, 1_000],
    ['the last commit was quick', queueOf(1), 20, 1.9],
    ['no more would fit', queueOf(2, 2), 20, 1_000],
  ])('does not wait where %s', async (_, queue, answered, tookMs) => {
    expect(await gathering(queue, answered, tookMs)()).toBe(true)
  })
})
