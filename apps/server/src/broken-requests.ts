import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { fail, problemBody } from '@remit/core'
import type { Failure } from '@remit/core'

/** Answers what the HTTP parser refuses with a problem document, like every other refusal. */
export function answerBrokenRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const failure = failureOf(error.code)
    const body = JSON.stringify(problemBody(failure, randomUUID()))
    socket.end(
      `HTTP/1.1 ${failure.status} ${REASONS[failure.status] ?? 'Error'}\r\nContent-Type: application/problem+json\r\n` +
        `Cache-Control: no-store\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  })
}

const REASONS: Readonly<Record<number, string>> = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }

function failureOf(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') return fail('header_too_large', 'The header may have at most 16 KiB')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fail('request_timeout')
  return fail('invalid_request', 'The request is not valid HTTP/1.1')
}
