/**
 * `countingServer` on stdio, or on HTTP at `PORT`: each call writes a line to the file in `CALLS`. `CHANGED` is a
 * file that, once it exists, gives `pay` another description, and `TOOLS` one with definitions.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { countingServer } from './counting.ts'
import type { Definition } from './counting.ts'

const { CALLS = '', CHANGED = '', TOOLS = '', SECRET = '', PORT } = process.env

const build = () =>
  countingServer({
    called: (name) => appendFileSync(CALLS, `${name}\n`),
    isChanged: () => existsSync(CHANGED),
    tools: () =>
      existsSync(TOOLS) ? (JSON.parse(readFileSync(TOOLS, 'utf8')) as Definition[]) : null,
    env: () => ({ ...process.env, SECRET }),
  })

if (PORT === undefined) serveStdio(build)
else {
  // Most of these servers are on stdio, and load a third faster without the modules of HTTP.
  const { createServer } = await import('node:http')
  const { getRequestListener } = await import('@hono/node-server')
  const { createMcpHandler } = await import('@modelcontextprotocol/server')
  const handler = createMcpHandler(build)
  const listener = getRequestListener((request) => handler.fetch(request))
  createServer((request, response) => void listener(request, response)).listen(+PORT, '127.0.0.1')
}
