import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from '../staging.ts'
import { createInstallation } from './installation.ts'
import { quantile } from './report.ts'
import type { Result } from './report.ts'
import { startServer } from './servers.ts'

const CALLS = 500
const WARM_CALLS = 1_000
/** For the memory of the gateway. */
const MANY_CALLS = 100_000
const AT_A_TIME = 50

/** One end of MCP on pipes. */
class Peer {
  readonly #child
  readonly #waiting = new Map<number, () => void>()
  #id = 0

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'] ?? '', ...env },
    })
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const { id, result } = JSON.parse(line) as { id?: number; result?: { isError?: boolean } }
      if (id === undefined) return
      if (!result || result.isError === true) throw new Error(`the call failed: ${line}`)
      this.#waiting.get(id)?.()
      this.#waiting.delete(id)
    })
  }

  ask(method: string, params: object): Promise<void> {
    const id = ++this.#id
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  }

  async open(): Promise<this> {
    const clientInfo = { name: 'bench', version: '1' }
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    this.#child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return this
  }

  echo = (): Promise<void> =>
    this.ask('tools/call', { name: 'echo', arguments: { message: 'hello' } })

  /** Memory of the process in MiB. */
  rss(): number {
    const [, kib = '0'] =
      /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')) ?? []
    return Number(kib) / 1024
  }

  close(): void {
    this.#child.stdin.end()
  }
}

/**
 * Calls through `remit-mcp` against the same calls without it, in turns, and the memory of the gateway over
 * many calls.
 */
export async function mcpSuite(rounds: number): Promise<Result[]> {
  const installation = await createInstallation('sqlite')
  const server = await startServer({ kind: 'remit', ...installation })
  const program = 'examples/node_modules/@modelcontextprotocol/server-everything/dist/index.js'
  const upstream = [join(ROOT, program), 'stdio']
  const gateway = ['--conditions=@remit/source', join(ROOT, 'apps/mcp/src/main.ts')]
  const env = { REMIT_URL: server.url, REMIT_API_KEY: server.organization.key }
  const plain = await new Peer(upstream, {}).open()
  const governed = await new Peer(
    [...gateway, '--agent', 'bench', '--', process.execPath, ...upstream],
    env,
  ).open()
  for (let call = 0; call < WARM_CALLS; call++) {
    await plain.echo()
    await governed.echo()
  }
  const times = { plain: [] as number[], governed: [] as number[] }
  for (let call = 0; call < CALLS * rounds; call++) {
    times.plain.push(await timed(plain.echo))
    times.governed.push(await timed(governed.echo))
  }
  await burst(governed, MANY_CALLS / 10)
  const before = governed.rss()
  await burst(governed, MANY_CALLS)
  const grown = governed.rss() - before
  plain.close()
  governed.close()
  await server.stop()
  await installation.remove()
  const added = (share: number) => quantile(times.governed, share) - quantile(times.plain, share)
  const detail = (share: number) =>
    `${quantile(times.governed, share).toFixed(3)} ms against ${quantile(times.plain, share).toFixed(3)} ms, ${CALLS * rounds} calls`
  const time = { unit: ' ms' } as const
  return [
    {
      name: 'added by the MCP gateway, p50',
      value: added(0.5),
      ...time,
      goal: { below: 3 },
      detail: detail(0.5),
    },
    {
      name: 'added by the MCP gateway, p99',
      value: added(0.99),
      ...time,
      goal: { below: 10 },
      detail: detail(0.99),
    },
    {
      name: 'memory of the MCP gateway, growth',
      value: grown,
      unit: ' MiB',
      goal: { below: 32 },
      detail: `${MANY_CALLS} calls, ${AT_A_TIME} at a time, from ${before.toFixed(0)} MiB`,
    },
  ]
}

async function timed(call: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await call()
  return performance.now() - begun
}

async function burst(peer: Peer, calls: number): Promise<void> {
  for (let done = 0; done < calls; done += AT_A_TIME)
    await Promise.all(Array.from({ length: AT_A_TIME }, peer.echo))
}
