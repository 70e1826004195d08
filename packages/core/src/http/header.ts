import type { Context } from 'hono'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

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

const SANE = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** Returns the caller's `X-Request-Id` if it is well-formed, else a new id. */
export function requestIdOf(c: Context): string {
  const given = headerOf(c, 'x-request-id')
  return given !== undefined && SANE.test(given) ? given : randomUUID()
}
