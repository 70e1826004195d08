import { getPriority } from 'node:os'
import { afterAll, expect, it } from 'vitest'
import { ComputePool } from '../../src/threads/pool.ts'
import { priorityJob } from '../support/priority-job.ts'

const pool = new ComputePool(1, 64, new URL('../support/priority-worker.ts', import.meta.url))
afterAll(() => pool.close())

// Elsewhere a thread has no priority of its own.
it.runIf(process.platform === 'linux')(
  'a worker leaves the processor to the event loop',
  async () => {
    const own = getPriority()

    expect(await pool.run('owner', priorityJob(own), null, 10_000)).toMatchObject({ parts: [10] })
    expect(getPriority()).toBe(own)
  },
)
