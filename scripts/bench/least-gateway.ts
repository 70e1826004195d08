/**
 * The least that a gateway on HTTP can do, the baseline of `pnpm bench mcp`: it asks Remit before each request and
 * pipes bytes. It reads no message, pins no tools and reports no outcome. Its environment has `PORT`, `UPSTREAM`,
 * `REMIT_URL` and `REMIT_KEY`.
 */
import { Agent, createServer, request as send } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { deciding } from './mcp-peers.ts'

const { PORT = '', UPSTREAM = '', REMIT_URL = '', REMIT_KEY = '' } = process.env
const agent = new Agent({ keepAlive: true })
const remit = deciding(REMIT_URL, REMIT_KEY)

async function passOn(request: IncomingMessage, body: Buffer, response: ServerResponse) {
  await remit.echo()
  const { host: _, authorization: __, ...headers } = request.headers
  const sent = send(UPSTREAM, { method: 'POST', agent, headers }, (upstream) => {
    response.writeHead(upstream.statusCode ?? 500, upstream.headers)
    upstream.pipe(response)
  })
  sent.end(body)
}

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => void passOn(request, Buffer.concat(parts), response))
})
server.listen(Number(PORT), '127.0.0.1')
