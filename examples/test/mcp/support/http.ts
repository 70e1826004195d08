import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { programEnv } from '@remit/testing/pure'
import { readGatewayConfig, serve } from '@remit/mcp'
import { vi } from 'vitest'
import type { RemitServer } from '../../support/server.ts'
import { countingServer } from './counting.ts'
import type { Counting } from './counting.ts'
import { PATIENT, serverProgram } from './gateway.ts'

/** A gateway on HTTP in this process, with a configuration as the program reads it. */
export async function startGateway(
  { url, org }: Pick<RemitServer, 'url' | 'org'>,
  config: object,
  env: Record<string, string | undefined> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'remit-gateway-'))
  const path = join(folder, 'gateway.json')
  writeFileSync(path, JSON.stringify({ listen: '127.0.0.1:0', trust: 'first-use', ...config }))
  const warnings: string[] = []
  const gateway = await serve({
    settings: readGatewayConfig(path, { ...process.env, ...env }),
    url,
    key: org.key,
    omitKey: env['REMIT_OMIT_KEY'],
    env: { ...process.env, ...env },
    warn: (text) => void warnings.push(text),
  })
  return {
    url: gateway.url,
    warnings,
    async stop() {
      await gateway.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** `countingServer` on HTTP, with the headers and the text of each request that it got. */
export async function startCounting(
  counting: Omit<Counting, 'called'> = {},
  options: Parameters<typeof createMcpHandler>[1] = {},
) {
  const calls: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const texts: string[] = []
  const handler = createMcpHandler(
    () => countingServer({ ...counting, called: (name) => void calls.push(name) }),
    options,
  )
  const listener = getRequestListener(async (request) => {
    texts.push(await request.clone().text())
    return handler.fetch(request)
  })
  const server = createServer((request, response) => {
    headers.push(request.headers)
    void listener(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    headers,
    texts,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((done) => probe.close(done))
  return port
}

/** A server on HTTP in a process of its own. It can be started again, at the same address. */
export async function startOnHttp(program: readonly string[], env: Record<string, string> = {}) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/mcp`
  const isUp = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  const begin = async () => {
    const child = spawn(process.execPath, [...program], {
      stdio: 'ignore',
      env: programEnv({ PORT: String(port), ...env }),
    })
    await vi.waitUntil(isUp, { timeout: 60_000 })
    return child
  }
  let child = await begin()
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
  return {
    url,
    stop,
    async restart() {
      await stop()
      child = await begin()
    },
  }
}

/** The unchanged `server-everything` on HTTP. */
export const startEverything = () =>
  startOnHttp([serverProgram('server-everything'), 'streamableHttp'])

type ClientOptions = ConstructorParameters<typeof Client>[1]

/** A client of an MCP endpoint; with a secret, as the bearer of it. */
export async function connect(url: string, secret?: string, options: ClientOptions = {}) {
  const headers: Record<string, string> =
    secret === undefined ? {} : { authorization: `Bearer ${secret}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  const client = new Client({ name: 'test', version: '1' }, options)
  await client.connect(transport, PATIENT)
  return { client, transport }
}
