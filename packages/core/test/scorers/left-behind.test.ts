import { afterAll, describe, expect, it } from 'vitest'
import { ComputePool } from '../../src/threads/pool.ts'
import { carelessJob } from '../support/careless-job.ts'

// One thread, so that every job comes after another one in the same.
const file = new URL('../support/careless-worker.ts', import.meta.url)
const pool = new ComputePool(1, 64, file)
afterAll(() => pool.close())

const run = (owner: string, failsAfterMs: number | 'at once' | null, busyMs = 0) =>
  pool.run(owner, carelessJob, { failsAfterMs, busyMs }, 10_000)
const done = { ended: 'done', parts: ['done'] }

describe('a promise that a job leaves behind and that fails', () => {
  it('is charged to that job, and to nobody who waits behind it', async () => {
    const careless = run('careless', 'at once')
    const others = [run('another', null), run('a third', null)]

    await expect(careless).rejects.toThrow('left behind')
    expect(await Promise.all(others)).toMatchObject([done, done])
  })

  it('does not end the jobs of others, whenever it fails', async () => {
    const careless = run('careless', 40)
    const others = Array.from({ length: 20 }, () => run('another', null, 5))

    expect(await careless).toMatchObject(done)
    expect(await Promise.all(others)).toMatchObject(others.map(() => done))
  })

  it('does not leave the next one with a thread that is gone', async () => {
    // Late enough that its answer is there before, on a busy machine too.
    expect(await run('careless', 40)).toMatchObject(done)

    // One after the other, so that the thread is also lost while none of them runs.
    for (let i = 0; i < 100; i++) expect(await run('another', null, 1)).toMatchObject(done)
  })
})
