import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ROOT } from '../staging.ts'
import { createInstallation } from './installation.ts'
import { deciding, isUp, onHttp, onPipes, startNode } from './mcp-peers.ts'
import type { Peer } from './mcp-peers.ts'
import { freePort } from '@remit/testing'
import { quantile } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'
import { startServer } from './servers.ts'

const CALLS = 500
/** The engine optimizes hot code for a long time. */
const WARM_CALLS = 3_000
const PAUSE_MS = 8

const EVERYTHING = join(
  ROOT,
  'examples/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
)
const LEAST = ['--conditions=@remit/source', join(import.meta.dirname, 'least-gateway.ts')]
const GATEWAY = ['--conditions=@remit/source', join(ROOT, 'apps/mcp/src/main.ts')]

type Transport = 'stdio' | 'HTTP'

interface Setting {
  readonly plain: Peer
  readonly governed: Peer
  /** The server with the least gateway on HTTP before it; null for other transports. */
  readonly least: Peer | null
  /** A decision as the gateway asks for it, and nothing else. */
  readonly decision: Peer
  readonly gateway: ReturnType<typeof startNode>
  readonly stop: () => Promise<void>
}

async function setUp(transport: Transport): Promise<Setting> {
  const installation = await createInstallation('sqlite')
  const server = await startServer({ kind: 'remit', ...installation })
  const env = { REMIT_URL: server.url, REMIT_KEY: server.organization.key }
  const startGateway = (...command: string[]) => startNode([...GATEWAY, ...command], env)
  const started = await (transport === 'stdio'
    ? startOnPipes(startGateway)
    : startOnHttp(startGateway, env))
  const decision = deciding(server.url, server.organization.key)
  return {
    ...started,
    decision,
    async stop() {
      for (const peer of [started.plain, started.governed, started.least, decision]) peer?.close()
      started.gateway.kill()
      await server.stop()
      await installation.remove()
      started.end?.()
    },
  }
}

type Started = Omit<Setting, 'stop' | 'decision'> & { readonly end?: () => void }

interface RemitEnv extends Record<string, string> {
  readonly REMIT_URL: string
  readonly REMIT_KEY: string
}

type StartGateway = (...command: string[]) => Setting['gateway']

async function startOnPipes(startGateway: StartGateway): Promise<Started> {
  const upstream = [EVERYTHING, 'stdio']
  const gateway = startGateway('--agent', 'bench', '--', process.execPath, ...upstream)
  return {
    plain: await onPipes(startNode(upstream, {})),
    governed: await onPipes(gateway),
    least: null,
    gateway,
  }
}

async function startOnHttp(startGateway: StartGateway, env: RemitEnv): Promise<Started> {
  const [upstreamPort, leastPort, port] = [await freePort(), await freePort(), await freePort()]
  const upstream = startNode([EVERYTHING, 'streamableHttp'], { PORT: String(upstreamPort) })
  for (const stream of [upstream.stdout, upstream.stderr]) stream.resume()
  const url = `http://127.0.0.1:${upstreamPort}/mcp`
  await isUp(url)
  const least = startNode(LEAST, { ...env, PORT: String(leastPort), UPSTREAM: url })
  for (const stream of [least.stdout, least.stderr]) stream.resume()
  await isUp(`http://127.0.0.1:${leastPort}`)
  const folder = mkdtempSync(join(tmpdir(), 'remit-bench-'))
  const config = join(folder, 'gateway.json')
  const listen = `127.0.0.1:${port}`
  const upstreams = { everything: { url } }
  writeFileSync(config, JSON.stringify({ listen, agent: 'bench', trust: 'first-use', upstreams }))
  const gateway = startGateway('serve', '--config', config)
  for (const stream of [gateway.stdout, gateway.stderr]) stream.resume()
  await isUp(`http://${listen}/healthz`)
  return {
    plain: await onHttp(url),
    governed: await onHttp(`http://${listen}/mcp/everything`, env.REMIT_KEY),
    least: await onHttp(`http://127.0.0.1:${leastPort}`),
    gateway,
    end() {
      upstream.kill()
      least.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Calls through the gateway against the same calls without it, in turns. A model thinks between two calls: by
 * then the outcome of the call before is reported. Without a pause, the reports take their part of the CPU.
 */
export async function* mcpSuite(rounds: number): AsyncIterable<Result> {
  for (const transport of ['stdio', 'HTTP'] as const) {
    const { plain, governed, least, decision, stop } = await setUp(transport)
    const calls = CALLS * rounds
    await inTurns(plain, governed, { calls: WARM_CALLS, pauseMs: 0 })
    const thinking = await inTurns(plain, governed, { calls, pauseMs: PAUSE_MS })
    const atOnce = await inTurns(plain, governed, { calls, pauseMs: 0 })
    // As seldom as the calls through the gateway: idle programs answer more slowly.
    const { first: decided } = await inTurns(decision, null, { calls, pauseMs: 2 * PAUSE_MS })
    if (least) await inTurns(plain, least, { calls: WARM_CALLS, pauseMs: 0 })
    const piped = least && (await inTurns(plain, least, { calls, pauseMs: PAUSE_MS }))
    await stop()
    const name = `added by the MCP gateway on ${transport}`
    yield added(`${name}, p50`, thinking, 0.5, { goal: { below: 3 } })
    yield added(`${name}, p99`, thinking, 0.99, { goal: { below: 10 } })
    yield added(`${name}, p50 without a pause`, atOnce, 0.5)
    const decidedMs = quantile(decided, 0.5)
    yield {
      name: `${name}, p50 beyond a decision`,
      value: quantile(thinking.second, 0.5) - quantile(thinking.first, 0.5) - decidedMs,
      unit: ' ms',
      goal: null,
      detail: `a decision alone takes ${decidedMs.toFixed(3)} ms, ${calls} calls`,
    }
    if (piped) yield added(`added by the least gateway on ${transport}, p50`, piped, 0.5)
  }
}

/** Milliseconds of each call. */
interface Times {
  readonly first: number[]
  readonly second: number[]
}

async function inTurns(
  first: Peer,
  second: Peer | null,
  { calls, pauseMs }: { calls: number; pauseMs: number },
): Promise<Times> {
  const times: Times = { first: [], second: [] }
  for (let call = 0; call < calls; call++)
    for (const [name, peer] of Object.entries({ first, second })) {
      if (!peer) continue
      if (pauseMs > 0) await setTimeout(pauseMs)
      const begun = performance.now()
      await peer.echo()
      times[name as keyof Times].push(performance.now() - begun)
    }
  return times
}

function added(
  name: string,
  { first, second }: Times,
  share: number,
  goal: Pick<Result, 'goal'> = { goal: null },
): Result {
  const [plainMs, governedMs] = [quantile(first, share), quantile(second, share)]
  return {
    name,
    value: governedMs - plainMs,
    unit: ' ms',
    ...goal,
    detail: `${governedMs.toFixed(3)} ms against ${plainMs.toFixed(3)} ms, ${first.length} calls`,
  }
}
