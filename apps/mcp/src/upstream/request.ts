import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'

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
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly signal: AbortSignal
}

/**
 * Sends a request and resolves with the response once its headers are here. A tool may take hours, so that
 * nothing but the signal ends it; `fetch` would after five minutes. Redirects are not followed: they would
 * carry the secret elsewhere.
 */
export function send(
  url: URL,
  { method, headers, body, signal }: Sent,
  agents = AGENTS,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const [start, agent] =
      url.protocol === 'https:' ? [requestHttps, agents.https] : [requestHttp, agents.http]
    const sent = start(url, {
      method,
      agent,
      signal,
      headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
    })
    sent.once('response', resolve)
    sent.on('error', reject)
    sent.end(body)
  })
}

/** The body of a response. Rejects if it has more than `maxBytes`. */
export async function bodyOf(response: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    length += part.length
    if (length > maxBytes) throw new BodyTooLong(`A message has more than ${maxBytes} bytes.`)
    parts.push(part)
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}

export class BodyTooLong extends Error {}
