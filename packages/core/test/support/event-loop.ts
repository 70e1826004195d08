import { setTimeout } from 'node:timers/promises'

/**
 * The longest time this thread computed between two looks; waiting is none. A look comes one millisecond
 * after the last one, or when the turn of the event loop ends that holds it up.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
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
