import type { Endpoint, Validation } from '@remit/contract'
import type { MiddlewareHandler } from 'hono'
import { Failure } from '../base/errors.ts'
import type { RequestEnv } from './request-env.ts'

/**
 * Answers `?validate=true` with the errors that the request would be refused with: those of the shape
 * and those that the handler finds. Other refusals, such as that of a role, stay refusals.
 */
export function answerErrors({ query }: Endpoint): MiddlewareHandler<RequestEnv> {
  return async (c, next) => {
    await next()
    const { error } = c
    const isAsked = c.req.query('validate') === 'true' && query?.safeParse(c.req.query()).success
    if (!isAsked || !(error instanceof Failure) || error.code !== 'invalid_request') return
    const headers = { 'Cache-Control': 'no-store', 'X-Request-Id': c.get('requestId') }
    c.res = undefined
    c.res = Response.json(validationOf(error), { headers })
  }
}

function validationOf({ extras, message }: Failure): Validation {
  const { errors = [{ path: 'body', message }], extensions } = extras
  const position = extensions?.['position'] as { line: number; column: number } | undefined
  return {
    valid: false,
    errors: errors.map((one, i) => (i === 0 && position ? { ...one, position } : { ...one })),
    warnings: [],
  }
}
