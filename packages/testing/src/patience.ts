import { setTimeout } from 'node:timers/promises'
import { beforeAll, vi } from 'vitest'

const DAY_MS = 24 * 3600 * 1000
/** Longer than almost every file of tests. */
const FILE_MS = 90_000

// No test is about time: what a test waits for may take long on a machine that does ten other things.
const { waitFor } = vi
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: 60_000, ...options })

// Sums of a day begin anew at midnight in UTC. A server with a real clock is not tested across it.
beforeAll(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS)
  if (left < FILE_MS) await setTimeout(left)
})
