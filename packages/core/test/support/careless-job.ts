import { setTimeout } from 'node:timers/promises'
import type { Job } from '../../src/threads/job.ts'

interface Careless {
  /** The promise that it leaves fails at once, after this many milliseconds, or never. */
  readonly failsAfterMs: number | 'at once' | null
  /** Milliseconds of computing. */
  readonly busyMs: number
}

/** Leaves a promise behind that fails. */
export const carelessJob: Job<Careless, string> = {
  name: 'careless',
  run({ failsAfterMs, busyMs }, tell) {
    if (failsAfterMs !== null) void failLater(failsAfterMs)
    const until = performance.now() + busyMs
    while (performance.now() < until);
    tell('done')
  },
}

async function failLater(ms: number | 'at once'): Promise<never> {
  if (ms !== 'at once') await setTimeout(ms)
  throw new Error('left behind')
}
