import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The faults of a proxy. */
export type Fault =
  | 'pass'
  /** Refuses without asking the server. */
  | 'bad_gateway'
  /** A page with 200, without asking the server. */
  | 'html'
  /** Asks the server and closes the connection instead of answering. */
  | 'reset'
  /** Asks the server and answers nothing. */
  | 'hang'
  /** Asks the server and sends one byte of its answer. */
  | 'drip'
  /** Asks the server, sends half of its answer and closes the connection. */
  | 'half'
  /** Asks the server and answers with JSON that is no decision. */
  | 'wrong_json'

export const FAULTS: readonly Fault[] = [
  'bad_gateway',
  'html',
  'reset',
  'hang',
  'drip',
  'half',
  'wrong_json',
]

export interface FaultyProxy {
  readonly url: string
  /** Says what happens to the next requests. */
  next: (request: IncomingMessage) => Fault
  stop(): Promise<void>
}

/** A proxy in front of a server, which lets all requests pass until told otherwise. */
export async function startFaultyProxy(upstream: string): Promise<FaultyProxy> {
  const server = createServer((request, response) => {
    void answer(upstream, proxy.next(request), request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: () => 'pass',
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return proxy
}

async function answer(
  upstream: string,
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (fault === 'bad_gateway') {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
    return
  }
  if (fault === 'html') {
    response.writeHead(200, { 'content-type': 'text/html' }).end('{"decision":"allow"}')
    return
  }
  const answered = await fetch(new URL(request.url ?? '/', upstream), {
    method: request.method ?? 'GET',
    headers: headersOf(request),
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  })
  const body = Buffer.from(await answered.arrayBuffer())
  if (fault === 'reset') {
    request.socket.resetAndDestroy()
    return
  }
  if (fault === 'hang') return
  const headers = Object.fromEntries(answered.headers)
  delete headers['transfer-encoding']
  response.writeHead(answered.status, { ...headers, 'content-length': body.length })
  if (fault === 'pass') response.end(body)
  else if (fault === 'wrong_json')
    response.end(`{"decision":"allow"}`.padEnd(body.length).slice(0, body.length))
  else
    response.write(body.subarray(0, fault === 'drip' ? 1 : body.length / 2), () => {
      if (fault === 'half') request.socket.destroy()
    })
}

const headersOf = ({ headers }: IncomingMessage): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && !/^(host|connection|content-length)$/.test(name)
      ? [[name, value]]
      : [],
  )
