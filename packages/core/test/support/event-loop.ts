import { setImmediate } from 'node:timers/promises'

/** The longest time this thread computed between two turns of the event loop; waiting is none. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const done = new AbortController()
  let longest = 0
  const watch = async () => {
    while (!done.signal.aborted) {
      const before = process.threadCpuUsage()
      await setImmediate()
      const { user, system } = process.threadCpuUsage(before)
      longest = Math.max(longest, (user + system) / 1_000)
    }
  }
  const watching = watch()
  await work().finally(() => done.abort())
  await watching
  return longest
}
