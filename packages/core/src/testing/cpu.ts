import { computedMs } from '../base/cpu-time.ts'

/**
 * Returns the milliseconds that this thread computed during some work, so that a busy machine does not
 * look like slow code.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const begun = computedMs()
  await work()
  return computedMs() - begun
}
