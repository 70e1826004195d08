import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'

/** Returns Node's request if the server runs on a socket. */
export const incomingOf = (c: Context): IncomingMessage | undefined =>
  (c.env as { incoming?: IncomingMessage } | undefined)?.incoming

/**
 * Returns one request header by its lower-case name, from Node's own parser, without creating a
 * Headers object. Not for `authorization`: Node keeps the first of two, which must be rejected.
 */
export function headerOf(c: Context, name: string): string | undefined {
  const incoming = incomingOf(c)
  if (!incoming) return c.req.header(name)
  const value = incoming.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Returns the address of the client's connection if the server runs on a socket. */
export const addressOf = (c: Context): string | undefined => incomingOf(c)?.socket.remoteAddress
