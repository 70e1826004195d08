import type { Endpoint, Input } from '@remit/contract'
import type { Context } from 'hono'
import { z } from 'zod'
import { invalid } from '../errors.ts'
import { parseForm } from './form.ts'
import { invalidInput } from './problem.ts'
import { isForm, parseBody } from './read-body.ts'

/** The validated parameters, query and body of a request. */
export function readInput(
  endpoint: Endpoint,
  c: Context,
  bytes: Uint8Array | undefined,
): Input<Endpoint> {
  return {
    params: check(endpoint.params, () => c.req.param()),
    query: check(endpoint.query ?? noQuery(endpoint, c), () => queryOf(c)),
    body: check(endpoint.body, () => readFields(endpoint, c, bytes ?? new Uint8Array())),
  }
}

const NO_QUERY = z.strictObject({})

/** What refuses parameters where there are none; most requests have no `?`, and need no look. */
const noQuery = ({ lenient }: Endpoint, c: Context): z.ZodType | undefined =>
  lenient || !c.req.url.includes('?') ? undefined : NO_QUERY

function check(schema: z.ZodType | undefined, read: () => unknown): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(read())
  if (!result.success) throw invalidInput(result.error)
  return result.data
}

/** The members of a body, a form or JSON as the request says; nothing else is checked. */
export const readFields = (endpoint: Endpoint, c: Context, bytes: Uint8Array): unknown =>
  endpoint.form && isForm(c) ? parseForm(bytes) : parseBody(bytes)

/**
 * Each parameter once: of two values nobody can say which was meant. U+0000 is refused as it is in JSON;
 * PostgreSQL takes no text with it.
 */
function queryOf(c: Context): Record<string, string> {
  const { searchParams } = new URL(c.req.url)
  const query: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of searchParams) {
    if (name in query) throw invalid(name, 'is given twice')
    if (value.includes('\0')) throw invalid(name, 'must not contain U+0000')
    query[name] = value
  }
  return { ...query }
}
