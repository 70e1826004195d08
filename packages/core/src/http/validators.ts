import { zValidator } from '@hono/zod-validator'
import type { Hook } from '@hono/zod-validator'
import type { Endpoint } from '@remit/contract'
import type { Context, MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { invalidInput } from '../base/check-shape.ts'
import { invalid } from '../base/errors.ts'
import { FOR_FIELD_ERRORS } from '../base/issue-text.ts'
import type { RequestEnv } from './request-env.ts'

/** Checks parameters of the path; the problem document names the faulty ones. */
export const validateParams = ({ params }: Endpoint): MiddlewareHandler<RequestEnv>[] =>
  params ? [refusePath, zValidator('param', params, refuse, options)] : []

/** Checks the query. Most requests have none, so an endpoint without parameters only looks for `?`. */
export function validateQuery({ query, lenient }: Endpoint): MiddlewareHandler<RequestEnv>[] {
  if (query) return [zValidator('query', query, refuse, options)]
  return lenient ? [] : [refuseQuery]
}

/** A parameter with other escapes would be taken as its text, which is another name. */
const refusePath: MiddlewareHandler<RequestEnv> = (c, next) => {
  const path = c.req.url.split('?', 1)[0] ?? ''
  if (path.includes('%') && !isEncoded(path)) throw invalid('path', NOT_ENCODED)
  return next()
}

const NOT_ENCODED = 'must be UTF-8 in percent-encoding'

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const options = {
  validationFunction: (schema: z.ZodType, value: unknown) =>
    schema.safeParse(value, FOR_FIELD_ERRORS),
}
const strict: MiddlewareHandler<RequestEnv> = zValidator(
  'query',
  z.strictObject({}),
  refuse,
  options,
)
const refuseQuery: MiddlewareHandler<RequestEnv> = (c, next) =>
  c.req.url.includes('?') ? strict(c, next) : next()

function refuse(result: Parameters<Hook<unknown, RequestEnv, string>>[0], c: Context): void {
  const { url } = c.req
  // A second value makes the schema fail; U+0000 passes it, and PostgreSQL takes no text with it.
  if (result.target === 'query') {
    if (url.includes('%')) refuseEscapes(new URL(url).search.slice(1))
    if (!result.success || url.includes('%00')) refuseValues(new URL(url).searchParams)
  }
  if (!result.success) throw invalidInput(result.error as z.ZodError)
}

/** Of two values nobody can say which was meant. */
function refuseValues(query: URLSearchParams): void {
  const names = new Set<string>()
  for (const [name, value] of query) {
    if (names.has(name)) throw invalid(name, 'is given more than once')
    if (value.includes('\0')) throw invalid(name, 'must not contain U+0000')
    names.add(name)
  }
}

/** Other escapes would become replacement characters, which match nothing. */
function refuseEscapes(query: string): void {
  for (const part of query.split('&'))
    if (!isEncoded(part)) throw invalid(/^[\w.-]*/.exec(part)?.[0] || 'query', NOT_ENCODED)
}
