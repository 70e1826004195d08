import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import type { ClientRequestArgs, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'

/** Milliseconds; below the time after which common servers close an unused connection. */
const UNUSED_MS = 4_000
interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

const AGENTS: Agents = {
  http: new HttpAgent({ keepAlive: true, timeout: UNUSED_MS }),
  https: new HttpsAgent({ keepAlive: true, timeout: UNUSED_MS }),
}

export interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly signal: AbortSignal
}

/**
 * Sends a request and resolves with the response once its headers are here. A tool may take hours, so that
 * nothing but the signal ends it; `fetch` would end it after five minutes. Redirects are not followed: they would
 * carry the secret elsewhere. The address is that of `urlToHttpOptions`, which takes a tenth of a request.
 */
export function send(
  address: ClientRequestArgs,
  { method, headers, body, signal }: Sent,
  agents = AGENTS,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const aborted = () => new DOMException('The request was aborted.', 'AbortError')
    if (signal.aborted) throw aborted()
    const [start, agent] =
      address.protocol === 'https:' ? [requestHttps, agents.https] : [requestHttp, agents.http]
    const sent = start({
      ...address,
      method,
      agent,
      headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
    })
    // Not the option `signal`, which watches the ends of both streams at a fifth of the cost.
    const abort = () => sent.destroy(aborted())
    signal.addEventListener('abort', abort, { once: true })
    sent.once('close', () => signal.removeEventListener('abort', abort))
    sent.once('response', resolve)
    sent.on('error', reject)
    sent.end(body)
  })
}

/** The body of a response or request. Rejects if it has more than `maxBytes`, or breaks off. */
export function bodyOf(stream: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let length = 0
    const brokeOff = () => reject(new Error('The message broke off.'))
    // It has no further event.
    if (stream.destroyed) return brokeOff()
    stream.once('close', brokeOff)
    stream.on('data', (part: Buffer) => {
      length += part.length
      parts.push(part)
      if (length <= maxBytes) return
      reject(new BodyTooLong(`A message has more than ${maxBytes} bytes.`))
      stream.destroy()
    })
    stream.once('end', () => {
      // An error with its stack costs more than the rest of this function.
      stream.off('close', brokeOff)
      resolve(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts))
    })
    stream.on('error', reject)
  })
}

export class BodyTooLong extends Error {}
