import { connect } from 'node:net'
import { PROBLEMS } from '@remit/contract'
import type { Problem } from '@remit/contract'

/** The bytes received on a connection until it ended; null if it did not end in time. */
export function exchange(url: string, message: string, boundMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const { port } = new URL(url)
    let received = ''
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
    const late = setTimeout(() => finish(null), boundMs)
    const finish = (outcome: string | null) => {
      clearTimeout(late)
      socket.destroy()
      resolve(outcome)
    }
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
    })
    // A reset after the answer, or instead of one, is the server's right.
    socket.on('error', () => finish(received))
    socket.on('close', () => finish(received))
    socket.on('end', () => finish(received))
    socket.end(Buffer.from(message, 'latin1'))
  })
}

/** The fault in the answers on a connection, or null. A connection may close without an answer. */
export function faultOf(received: string): string | null {
  let rest = received
  while (rest !== '') {
    const [, status, head, tail] =
      /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n(.*?)\r\n\r\n(.*)$/s.exec(rest) ?? []
    if (status === undefined || head === undefined || tail === undefined)
      return 'not an HTTP answer'
    const fields = new Map(
      head
        .split('\r\n')
        .map((line) => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(':') + 1).trim(),
        ]),
    )
    const [body, next] = bodyOf(fields, tail)
    const fault = Number(status) >= 400 ? faultOfRefusal(Number(status), fields, body) : null
    if (fault !== null) return `${status}: ${fault}`
    rest = next
  }
  return null
}

function bodyOf(fields: ReadonlyMap<string, string>, tail: string): [body: string, next: string] {
  if (fields.get('transfer-encoding') !== 'chunked') {
    const length = Number(fields.get('content-length') ?? 0)
    return [tail.slice(0, length), tail.slice(length)]
  }
  let [body, rest] = ['', tail]
  for (;;) {
    const end = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, end), 16)
    body += rest.slice(end + 2, end + 2 + size)
    rest = rest.slice(end + 2 + size + 2)
    if (!(size > 0)) return [body, rest]
  }
}

function faultOfRefusal(
  status: number,
  fields: ReadonlyMap<string, string>,
  body: string,
): string | null {
  if (status >= 500) return 'the server failed'
  if (fields.get('content-type') !== 'application/problem+json') return 'no problem document'
  if (body === '') return null
  const { code } = JSON.parse(body) as Problem
  return PROBLEMS[code]?.[0] === status ? null : `${code} with another status`
}
