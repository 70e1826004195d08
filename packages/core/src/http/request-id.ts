import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import { headerOf } from './header.ts'

const SANE = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** Returns the caller's `X-Request-Id` if it is well-formed, else a new id. */
export function requestIdOf(c: Context): string {
  const given = headerOf(c, 'x-request-id')
  return given !== undefined && SANE.test(given) ? given : randomUUID()
}
