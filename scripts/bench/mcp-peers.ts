import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
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

/** A process with pipes. */
export const startNode = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, args, { env: { PATH: process.env['PATH'] ?? '', ...env } })

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
  const post = async (message: object): Promise<string> => {
    const { text, headers } = await send(url, message, agent, {
      accept: 'application/json, text/event-stream',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      // Clients must send both; servers treat one without a version as an older one.
      ...(session !== undefined && {
        'mcp-session-id': session,
        'mcp-protocol-version': CLIENT.protocolVersion,
      }),
    })
    const id = headers['mcp-session-id']
    if (typeof id === 'string') session = id
    return text
  }
  const ask = async (method: string, params: object): Promise<void> =>
    check(await post({ jsonrpc: '2.0', id: ++count, method, params }))
  await ask('initialize', CLIENT)
  await post(INITIALIZED)
  return { echo: () => ask('tools/call', ECHO), close: () => agent.destroy() }
}

/** Asks Remit about such a call, with the members that the gateway sends, and calls nothing. */
export function deciding(url: string, key: string): Peer {
  const agent = new Agent({ keepAlive: true })
  const { name, arguments: args } = ECHO
  const guard = { flagged: false, reasons: [] }
  const context = { args, tool: name, upstream: 'server', session_id: randomUUID(), guard }
  const resource = { type: 'tool', id: name }
  const asked = { agent_id: 'bench', action: 'tools/call', resource, context }
  return {
    async echo() {
      const { text } = await send(`${url}/v1/authorize`, asked, agent, {
        authorization: `Bearer ${key}`,
        'idempotency-key': randomBytes(32).toString('base64url'),
      })
      if (!text.includes('"decision":"allow"')) throw new Error(`Remit answered ${text}`)
    },
    close: () => agent.destroy(),
  }
}

interface Answered {
  readonly text: string
  readonly headers: IncomingHttpHeaders
}

const send = (
  url: string,
  message: object,
  agent: Agent,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const body = Buffer.from(JSON.stringify(message))
    const json = { 'content-type': 'application/json', 'content-length': body.length }
    const options = { method: 'POST', agent, headers: { ...json, ...headers } }
    const sent = request(url, options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ text: Buffer.concat(parts).toString(), headers: response.headers }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })

function check(answer: string): void {
  if (!answer.includes('"result"') || answer.includes('"isError":true'))
    throw new Error(`the call failed: ${answer}`)
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
