import { afterAll, expect, it } from 'vitest'
import { ComputePool } from '../../src/threads/pool.ts'
import { waitingJob } from '../support/waiting-job.ts'

const file = new URL('../support/waiting-worker.ts', import.meta.url)
const pool = new ComputePool(1, 64, file)
afterAll(() => pool.close())

it('the time limit of a job counts no time in which the machine does something else', async () => {
  const answer = await pool.run('owner', waitingJob, 150, 50)

  expect(answer).toMatchObject({ ended: 'done', parts: ['done'] })
  expect(answer.spentMs).toBeLessThan(50)
})
