import { Failure } from '@remit/core/base'
import type { OnProgress } from '@remit/core/module'
import { describe, expect, test } from 'vitest'
import type { Task } from '../jobs/jobs.ts'
import { JobPool } from './pool.ts'
import type { Runner } from './runner.ts'

const trust = { vkeys: [], anchors: [], unread: [] }
const job = (orgId: string): Task => ({ orgId, trust, kind: 'verify', options: {} })

/** A runner that finishes each job on demand. */
class Place implements Runner {
  static all: Place[] = []
  isAlive = true
  task: Task | null = null
  progress: OnProgress = () => undefined
  #settled = Promise.withResolvers<unknown>()

  constructor() {
    Place.all.push(this)
  }

  run(task: Task, progress: OnProgress): Promise<unknown> {
    this.task = task
    this.progress = progress
    this.#settled = Promise.withResolvers()
    return this.#settled.promise
  }

  done(result: unknown): void {
    this.task = null
    this.#settled.resolve(result)
  }

  end(reason: Error): Promise<void> {
    this.isAlive = false
    this.#settled.promise.catch(() => undefined)
    this.#settled.reject(reason)
    return Promise.resolve()
  }
}

const poolOf = (options = {}) => {
  Place.all = []
  return new JobPool({ start: () => new Place(), ...options })
}
const running = () => Place.all.flatMap(({ task }) => task?.orgId ?? [])
const turn = () => new Promise((resolve) => setImmediate(resolve))
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) =>
      error instanceof Failure ? `${error.status} ${error.code}` : String(error),
  )

describe('jobs', () => {
  test('run two at a time, and places that are free are used again', async () => {
    const pool = poolOf()
    const results = ['a', 'b', 'c'].map((orgId) => pool.run(job(orgId)))
    expect(running()).toEqual(['a', 'b'])
    Place.all[1]!.done('of b')
    await turn()

    expect(running()).toEqual(['a', 'c'])
    expect(Place.all).toHaveLength(2)
    Place.all[0]!.done('of a')
    Place.all[1]!.done('of c')
    expect(await Promise.all(results)).toEqual(['of a', 'of b', 'of c'])
    await pool.close()
  })

  test('of one organization never take both places', async () => {
    const pool = poolOf()
    const waiting = [pool.run(job('a')), pool.run(job('a')), pool.run(job('b'))]
    expect(running()).toEqual(['a', 'b'])
    await pool.close()

    expect(await Promise.all(waiting.map(refusal))).toEqual(Array(3).fill('503 overloaded'))
  })

  test('beyond the queue are refused with 429 and when to come again, others are not', async () => {
    const pool = poolOf({ maxWaiting: { each: 2, total: 3 } })
    const own = Array.from({ length: 3 }, () => pool.run(job('a')))
    const fourth = pool.run(job('a'))
    const others = [pool.run(job('b')), pool.run(job('c')), pool.run(job('d'))]
    for (const one of [...own, ...others]) one.catch(() => undefined)

    await expect(fourth).rejects.toMatchObject({
      code: 'jobs_busy',
      status: 429,
      extras: { headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } },
    })
    expect(running()).toEqual(['a', 'b'])
    expect(await refusal(others[2]!)).toBe('429 jobs_busy')
    await pool.close()
  })

  test('of a disconnected client are ended, and their runner is not reused', async () => {
    const pool = poolOf()
    const gone = new AbortController()
    const job1 = pool.run(job('a'), { signal: gone.signal })
    gone.abort()

    expect(await refusal(job1)).toBe('503 overloaded')
    const next = pool.run(job('a'))
    expect(Place.all).toHaveLength(2)
    Place.all[1]!.done(1)
    expect(await next).toBe(1)
    expect(await refusal(pool.run(job('a'), { signal: gone.signal }))).toBe('503 overloaded')
    await pool.close()
  })

  test('tell how far they are', async () => {
    const pool = poolOf()
    const told: number[][] = []
    const result = pool.run(job('a'), { onProgress: (done, total) => told.push([done, total]) })
    Place.all[0]!.progress(5, 10)
    Place.all[0]!.done('all')
    await result

    expect(told).toEqual([[5, 10]])
    await pool.close()
  })

  test('leave no idle runner behind', async () => {
    const pool = poolOf({ idleMs: 1 })
    const result = pool.run(job('a'))
    Place.all[0]!.done('all')
    await result
    while (Place.all[0]!.isAlive) await turn()

    await pool.close()
    expect(await refusal(pool.run(job('a')))).toBe('503 overloaded')
  })
})
