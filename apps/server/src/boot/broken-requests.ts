import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { fail } from '@remit/core/base'
import type { Failure } from '@remit/core/base'
import { problemBody } from '@remit/core/http'
import type { OpenResponses } from './open-responses.ts'

/** Milliseconds for a client to read its error and disconnect. */
const LINGER_MS = 2_000

/** Responds with a problem document to requests that the HTTP parser rejects. */
export function answerBrokenRequests(server: Server, open: OpenResponses): void {
  const refused = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Further data is rejected by the parser again, and discarded.
    if (refused.has(socket)) return
    refused.add(socket)
    if (error.code === 'ECONNRESET') socket.destroy()
    else void refuse(socket, failureOf(error.code), open.of(socket))
  })
}

/** Responds after the earlier requests of the connection, so that responses keep their order. */
async function refuse(
  socket: Duplex,
  failure: Failure,
  open: readonly ServerResponse[],
): Promise<void> {
  const earlier = open.filter((response) => response.req.complete)
  await Promise.all(earlier.map((response) => once(response, 'close')))
  if (!socket.writable) {
    socket.destroy()
    return
  }
  socket.end(rawAnswer(failure))
  // If the socket were destroyed with unread bytes, the client would see a reset instead of the
  // response.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function rawAnswer(failure: Failure): string {
  const requestId = randomUUID()
  const body = JSON.stringify(problemBody(failure, requestId))
  return [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? 'Error'}`,
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

function failureOf(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return fail('header_too_large', 'The header must not exceed 16 KiB')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fail('request_timeout')
  return fail('invalid_request', 'The request is not valid HTTP/1.1')
}
