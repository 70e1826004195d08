import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { setUp } from './mcp.ts'
import type { Setting } from './mcp.ts'
import { rssOf } from './mcp-peers.ts'
import type { Peer } from './mcp-peers.ts'
import type { Result } from './report.ts'

const WARM_CALLS = 10_000
const CALLS = 100_000
const AT_A_TIME = 50
const MIB = 2 ** 20
/** Milliseconds; on a loaded machine Remit may not answer in time, and the gateway refuses the call. */
const PAUSE_MS = 1_000
const MAX_REFUSED = CALLS / 100

/**
 * The memory of the gateway over many calls: what a garbage collection leaves, and what the process has. The
 * engine enlarges the space for new objects while it is under load, so that the latter is compared from the middle.
 */
export async function* mcpMemorySuite(): AsyncIterable<Result> {
  for (const transport of ['stdio', 'HTTP'] as const) {
    const { plain, governed, gateway, stop } = await setUp(transport, { probed: true })
    plain.close()
    await burst(governed, WARM_CALLS)
    const before = await heldBy(gateway)
    await burst(governed, CALLS / 2)
    const halfway = rssOf(gateway)
    await burst(governed, CALLS / 2)
    const rss = rssOf(gateway)
    const after = await heldBy(gateway)
    await stop()
    const calls = `${AT_A_TIME} at a time`
    yield {
      name: `held by the MCP gateway on ${transport}, growth`,
      value: after - before,
      unit: ' MiB',
      goal: { below: 4 },
      detail: `${CALLS} calls, ${calls}, from ${before.toFixed(1)} MiB after a garbage collection`,
    }
    yield {
      name: `memory of the MCP gateway on ${transport}, growth`,
      value: rss - halfway,
      unit: ' MiB',
      goal: { below: 16 },
      detail: `the last ${CALLS / 2} calls, ${calls}, from ${halfway.toFixed(0)} MiB`,
    }
  }
}

/** MiB of the heap and of buffers after a garbage collection. */
async function heldBy(gateway: Setting['gateway']): Promise<number> {
  gateway.send('held')
  const [bytes] = (await once(gateway, 'message')) as [number]
  return bytes / MIB
}

/** Makes so many calls. Those that are refused do not count, and are few. */
async function burst(peer: Peer, calls: number): Promise<void> {
  let refused = 0
  for (let done = 0; done < calls;) {
    const all = await Promise.allSettled(Array.from({ length: AT_A_TIME }, peer.echo))
    const failed = all.filter((one) => one.status === 'rejected')
    done += AT_A_TIME - failed.length
    refused += failed.length
    if (refused > MAX_REFUSED) throw failed[0]?.reason
    if (failed.length > 0) await setTimeout(PAUSE_MS)
  }
}
