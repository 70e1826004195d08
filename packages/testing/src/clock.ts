import type { Clock } from '@remit/core/base'

export interface TestClock extends Clock {
  set(time: string): void
  advance(ms: number): void
}

export function createClock(time = '2026-11-20T08:00:00.000Z'): TestClock {
  let now = Date.parse(time)
  return {
    now: () => now,
    set: (at) => {
      now = Date.parse(at)
    },
    advance: (ms) => {
      now += ms
    },
  }
}

/**
 * Returns the milliseconds that this thread computed during some work, so that a busy machine does not
 * look like slow code.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const begun = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(begun)
  return (user + system) / 1000
}
