import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { bundledProgram, programEnv } from '@remit/testing/pure'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { RemitServer } from '../../support/server.ts'

const require = createRequire(import.meta.url)
/** The program `remit-mcp`. */
export const GATEWAY = bundledProgram('mcp-gateway')
/** Of a client: after the minute that it waits otherwise, a loaded machine may still answer. */
export const PATIENT = { timeout: 170_000 }
export const NODE = ['--disable-warning=ExperimentalWarning']

/** The program of a public server. */
export function serverProgram(name: string): string {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`)
  return join(dirname(manifest), 'dist/index.js')
}

/** `NAME.ts` in this folder, a server of the tests. */
export const ownProgram = (name: 'asking-server' | 'counting-server'): string =>
  bundledProgram(name)

/** The command line of `remit-mcp` in front of a server that Node runs. */
export const gatewayArguments = (
  server: readonly string[],
  flags: readonly string[] = ['--agent', 'tester'],
): string[] => [...NODE, GATEWAY, ...flags, '--', process.execPath, ...server]

interface Started {
  readonly client: Client
  readonly transport: StdioClientTransport
}

type ClientOptions = ConstructorParameters<typeof Client>[1]

/** A client of a server without the gateway. */
export const direct = (server: readonly string[], options?: ClientOptions): Promise<Started> =>
  start(server, {}, options)

/** A client of a server behind `remit-mcp`. */
export const governed = (
  { url, org }: Pick<RemitServer, 'url' | 'org'>,
  server: readonly string[],
  {
    flags,
    env = {},
    ...options
  }: { flags?: readonly string[]; env?: Record<string, string> } & ClientOptions = {},
): Promise<Started> =>
  start(gatewayArguments(server, flags), { REMIT_URL: url, REMIT_KEY: org.key, ...env }, options)

async function start(
  args: readonly string[],
  env: Record<string, string>,
  options: ClientOptions = {},
): Promise<Started> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args],
    env: programEnv(env),
    stderr: 'ignore',
    maxBufferSize: 64 * 1024 * 1024,
  })
  const client = new Client({ name: 'test', version: '1' }, options)
  await client.connect(transport, PATIENT)
  return { client, transport }
}
