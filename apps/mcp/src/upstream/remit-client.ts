import { globalAgent as httpAgent } from 'node:http'
import { globalAgent as httpsAgent } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { createClient } from '@remit/contract/client'
import type { Client, ClientOptions } from '@remit/contract/client'
import { bodyOf, send } from './request.ts'

const AGENTS = { http: httpAgent, https: httpsAgent }
/** Larger than any answer of Remit. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * A client of Remit for a process that asks before each call of a tool. `fetch` makes streams of each request
 * and response, at twice the cost of the request itself.
 */
export function createRemitClient(options: Pick<ClientOptions, 'baseUrl' | 'key'>): Client {
  const { baseUrl } = options
  return createClient({
    baseUrl,
    // Credentials are renewed, so that it may be an accessor.
    get key() {
      return options.key
    },
    send: sender(new URL(baseUrl)),
  })
}

function sender(base: URL): NonNullable<ClientOptions['send']> {
  const address = urlToHttpOptions(base)
  return async (url, { method, headers, body, signal }) => {
    const response = await send(
      { ...address, path: url.slice(base.origin.length) },
      {
        method: method as 'GET' | 'POST',
        headers: headers as Record<string, string>,
        signal: signal ?? new AbortController().signal,
        ...(typeof body === 'string' && { body: Buffer.from(body) }),
      },
      AGENTS,
    )
    const { statusCode: status = 0 } = response
    return {
      ok: status >= 200 && status < 300,
      status,
      headers: headersOf(response.rawHeaders),
      body: null,
      text: async () => (await bodyOf(response, MAX_ANSWER_BYTES)).toString('utf8'),
    }
  }
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '')
  return headers
}
