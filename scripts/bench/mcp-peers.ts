import { spawn } from 'node:child_process'
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

const CLIENT = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
}
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }
const ECHO = { name: 'echo', arguments: { message: 'hello' } }

/** A client of one MCP server, as far as the benchmark needs it. */
export interface Peer {
  /** Calls a tool; throws where the call fails. */
  readonly echo: () => Promise<void>
  readonly close: () => void
}

/** A process with pipes, and a channel for messages where a probe is loaded. */
export function startNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { isProbed = false } = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe', isProbed ? 'ipc' : 'ignore'],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  }) as ChildProcessWithoutNullStreams
}

/** Memory of a process in MiB. */
export function rssOf({ pid }: ChildProcess): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

/** A client of a server on pipes. */
export async function onPipes(child: ReturnType<typeof startNode>): Promise<Peer> {
  const waiting = new Map<number, (line: string) => void>()
  let count = 0
  child.stderr.resume()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id } = JSON.parse(line) as { id?: number }
    if (id === undefined) return
    waiting.get(id)?.(line)
    waiting.delete(id)
  })
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
  const ask = async (method: string, params: object): Promise<void> => {
    const id = ++count
    const answer = new Promise<string>((resolve) => {
      waiting.set(id, resolve)
    })
    send({ jsonrpc: '2.0', id, method, params })
    check(await answer)
  }
  await ask('initialize', CLIENT)
  send(INITIALIZED)
  return { echo: () => ask('tools/call', ECHO), close: () => void child.stdin.end() }
}

/** A client of a server on streamable HTTP, in one session and on connections that stay open. */
export async function onHttp(url: string, key?: string): Promise<Peer> {
  const agent = new Agent({ keepAlive: true })
  let session: string | undefined
  let count = 0
  const post = (message: object): Promise<string> =>
    new Promise((resolve, reject) => {
      const body = Buffer.from(JSON.stringify(message))
      const headers = {
        'content-type': 'application/json',
        'content-length': body.length,
        accept: 'application/json, text/event-stream',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(session !== undefined && { 'mcp-session-id': session }),
      }
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        const parts: Buffer[] = []
        const id = response.headers['mcp-session-id']
        if (typeof id === 'string') session = id
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => resolve(Buffer.concat(parts).toString()))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const ask = async (method: string, params: object): Promise<void> =>
    check(await post({ jsonrpc: '2.0', id: ++count, method, params }))
  await ask('initialize', CLIENT)
  await post(INITIALIZED)
  return { echo: () => ask('tools/call', ECHO), close: () => agent.destroy() }
}

function check(answer: string): void {
  if (!answer.includes('"result"') || answer.includes('"isError":true'))
    throw new Error(`the call failed: ${answer}`)
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((done) => probe.close(done))
  return port
}

/** Resolves once something listens at `url`. */
export async function isUp(url: string): Promise<void> {
  for (;;) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
