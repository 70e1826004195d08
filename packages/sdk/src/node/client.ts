import { constants } from 'node:buffer'
import { globalAgent as httpAgent } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { globalAgent as httpsAgent } from 'node:https'
import { Readable } from 'node:stream'
import { urlToHttpOptions } from 'node:url'
import { createClient as createFetchClient } from '@remit/contract/client'
import type { Client, ClientOptions, PlainResponse } from '@remit/contract/client'
import { bodyOf, send } from './http.ts'

const AGENTS = { http: httpAgent, https: httpsAgent }
/** A longer body is no text in Node. */
const MAX_BYTES = constants.MAX_STRING_LENGTH
/** Statuses without a body. */
const EMPTY = new Set([204, 205, 304])

/**
 * A client that sends with `node:http`, on the connections of Node's global agents. `fetch` makes streams of each
 * request and response, at twice the cost of the request itself. Everything else is as with `createClient` of
 * `@remit/sdk`.
 *
 * @example
 * const client = createClient({ baseUrl: 'http://localhost:8080', key })
 * const gate = createGate({ client, agentId: 'payer' })
 */
export function createClient(options: Omit<ClientOptions, 'fetch' | 'send'>): Client {
  return createFetchClient({
    ...options,
    // Credentials are renewed, so that it may be an accessor.
    get key() {
      return options.key
    },
    send: sender(options.baseUrl),
  })
}

function sender(baseUrl: string): NonNullable<ClientOptions['send']> {
  // `createClient` refuses an invalid address.
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const address = base ? urlToHttpOptions(base) : {}
  const { length } = base?.origin ?? ''
  return async (url, { method, headers, body, signal }) => {
    const response = await send(
      { ...address, path: url.slice(length) },
      {
        method: method ?? 'GET',
        headers: headers as Record<string, string>,
        signal: signal ?? new AbortController().signal,
        ...(typeof body === 'string' && { body: Buffer.from(body) }),
      },
      AGENTS,
    )
    return plainOf(response)
  }
}

function plainOf(response: IncomingMessage): PlainResponse {
  const { statusCode: status = 0, rawHeaders } = response
  // An unread response keeps its connection.
  if (EMPTY.has(status)) response.resume()
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: headersOf(rawHeaders),
    get body() {
      return Readable.toWeb(response) as ReadableStream<Uint8Array>
    },
    text: async () => (await bodyOf(response, MAX_BYTES)).toString('utf8'),
  }
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '')
  return headers
}
