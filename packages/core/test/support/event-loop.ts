import { setTimeout } from 'node:timers/promises'

/** Other processes and a collection of garbage lengthen one turn, but not that of every attempt. */
const ATTEMPTS = 3

/**
 * The longest time in milliseconds that this thread computed between two looks while `work` ran; waiting is
 * none. A look comes one millisecond after the last one, or when the turn of the event loop ends that
 * holds it up. Work that takes `enough` or longer is tried again; the least of the attempts counts.
 */
export async function longestTurn(work: () => Promise<unknown>, enough: number): Promise<number> {
  let least = Infinity
  for (let attempt = 0; attempt < ATTEMPTS && least >= enough; attempt++)
    least = Math.min(least, await measure(work))
  return least
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const done = new AbortController()
  let longest = 0
  const watch = async () => {
    while (!done.signal.aborted) {
      const before = process.threadCpuUsage()
      await setTimeout(1)
      const { user, system } = process.threadCpuUsage(before)
      longest = Math.max(longest, (user + system) / 1_000)
    }
  }
  const watching = watch()
  await work().finally(() => done.abort())
  await watching
  return longest
}
