import type { Job } from '../../src/threads/job.ts'

/** Waits for some milliseconds without computing, as on a busy machine. */
export const waitingJob: Job<number, string> = {
  name: 'waiting',
  run(ms, tell) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    tell('done')
  },
}
