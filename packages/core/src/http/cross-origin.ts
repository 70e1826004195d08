import { ANSWER_HEADERS, REQUEST_HEADERS } from '@remit/contract'
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { headerOf } from './header.ts'

const PREFLIGHT_SECONDS = 600
const KEY_HEADERS = ['Authorization', 'X-API-Key'] as const
/** Of instrumented pages (https://www.w3.org/TR/trace-context/). */
const TRACE_HEADERS = ['traceparent', 'tracestate'] as const

/**
 * Allows pages of exactly these origins to call the API (CORS,
 * https://fetch.spec.whatwg.org/#http-cors-protocol). Cookies are never allowed across origins.
 * Requests from other origins are answered without CORS headers, so the browser hides the response
 * from the page.
 */
export function crossOrigin(origins: readonly string[]): MiddlewareHandler {
  const allowed = new Set(origins)
  const answer = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      ...KEY_HEADERS,
      ...TRACE_HEADERS,
      'Content-Type',
      'X-Request-Id',
      ...Object.keys(REQUEST_HEADERS),
    ],
    exposeHeaders: Object.keys(ANSWER_HEADERS),
    maxAge: PREFLIGHT_SECONDS,
  })
  return async (c, next) => {
    const origin = headerOf(c, 'origin')
    if (origin !== undefined && allowed.has(origin)) return answer(c, next)
    await next()
    c.res.headers.append('Vary', 'Origin')
    return undefined
  }
}
