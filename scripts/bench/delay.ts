import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import type { Result } from './report.ts'

const MOST_MS = 50
// The histogram's value for no delay.
const RESOLUTION_MS = 5

/** Measures how long other requests wait while this process handles a deliberately slow one. */
export async function delayOf(name: string, ask: () => Promise<void>): Promise<Result> {
  // The first run compiles functions and starts workers.
  await ask()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  // The histogram samples the loop: it must have started, and see the end.
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
