import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import { headerOf } from './header.ts'

const SANE = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** The caller's `X-Request-Id` when it is sane, else a new one. */
export function requestIdOf(c: Context): string {
  const given = headerOf(c, 'x-request-id')
  return given !== undefined && SANE.test(given) ? given : randomUUID()
}
