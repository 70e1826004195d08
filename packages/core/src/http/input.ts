import type { Endpoint, Input } from '@remit/contract'
import type { Context } from 'hono'
import { z } from 'zod'
import { invalid } from '../base/errors.ts'
import { checkShape } from '../base/check-shape.ts'

/** The input of a request, whose parameters and query are checked here; its body was checked before. */
export const readInput = (endpoint: Endpoint, c: Context, body: unknown): Input<Endpoint> => ({
  params: endpoint.params && checkShape(endpoint.params, c.req.param()),
  query: queryIn(endpoint, c),
  body,
})

const NO_QUERY = z.strictObject({})

/** What refuses parameters where there are none; most requests have no `?`, and need no look. */
function queryIn({ query, lenient }: Endpoint, c: Context): unknown {
  const schema = query ?? (lenient || !c.req.url.includes('?') ? undefined : NO_QUERY)
  return schema && checkShape(schema, queryOf(c))
}

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
