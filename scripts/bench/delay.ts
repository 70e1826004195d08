import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import type { Result } from './report.ts'

const MOST_MS = 50
// What the histogram takes for no delay at all.
const RESOLUTION_MS = 5

/** How long everyone else waits while a request made to be slow is answered in this process. */
export async function delayOf(name: string, ask: () => Promise<void>): Promise<Result> {
  // The first time, functions are compiled and workers start.
  await ask()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  // The histogram looks at the loop now and then: it must have begun to, and see the end.
  await setTimeout(2 * RESOLUTION_MS)
  const started = performance.now()
  await ask()
  const took = performance.now() - started
  await setTimeout(2 * RESOLUTION_MS)
  delay.disable()
  return {
    name: `event loop held, ${name}`,
    value: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
    unit: ' ms',
    goal: { below: MOST_MS },
    detail: `${Math.round(took)} ms a request`,
  }
}
