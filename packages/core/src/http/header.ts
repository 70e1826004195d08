import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'

/** Node's request, where the server runs on a socket. */
export const incomingOf = (c: Context): IncomingMessage | undefined =>
  (c.env as { incoming?: IncomingMessage } | undefined)?.incoming

/**
 * One request header by its lower-case name. Read from Node's own parse, without a Headers object
 * around it. Not for `authorization`: Node keeps the first of two, where two must be refused.
 */
export function headerOf(c: Context, name: string): string | undefined {
  const incoming = incomingOf(c)
  if (!incoming) return c.req.header(name)
  const value = incoming.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
