import { z } from 'zod'
import type { Endpoint } from '../endpoint.ts'
import { REQUEST_HEADERS } from '../headers.ts'
import type { AnswerHeader, RequestHeader } from '../headers.ts'
import type { Json } from './schema.ts'

/** The statuses with a certain success header; the other headers come with 200 and 201. */
const ONLY_WITH: Partial<Record<AnswerHeader, readonly number[]>> = {
  Location: [201, 202],
  'Set-Cookie': [204],
  'Retry-After': [202],
}

/** Returns the headers that a request to an endpoint may have, as parameters of the operation. */
export const headerParameters = (endpoint: Endpoint) =>
  headersTaken(endpoint).map((name) => ({
    name,
    in: 'header',
    required: false,
    ...REQUEST_HEADERS[name],
  }))

function headersTaken(endpoint: Endpoint): RequestHeader[] {
  const { method, takes = [] } = endpoint
  return [
    ...(method === 'POST' ? (['Idempotency-Key'] as const) : []),
    ...takes,
    ...(method !== 'GET' && hasReceipt(endpoint) ? (['Prefer'] as const) : []),
  ]
}

/** Returns true if the response has a receipt; then it can include the signed note. */
const hasReceipt = ({ ok }: Endpoint): boolean =>
  JSON.stringify(z.toJSONSchema(ok, { unrepresentable: 'any' })).includes('"#/$defs/Receipt"')

/** Returns the headers of a success with one status. */
export function successHeaders({ sends = [], ...endpoint }: Endpoint, status: number): Json {
  const own = sends.filter((name) => (ONLY_WITH[name] ?? [200, 201]).includes(status))
  const limits = ['RateLimit', 'RateLimit-Policy'] as const
  const replays =
    endpoint.method === 'POST' && !endpoint.public
      ? (['Idempotency-First-Request-Id', 'Idempotency-Replayed'] as const)
      : []
  return linked([...own, ...replays, ...(endpoint.public ? [] : limits), 'X-Request-Id'])
}

/** Returns the headers of a problem. */
export const problemHeaders = (open: boolean): Json =>
  linked(['Retry-After', ...(open ? [] : (['WWW-Authenticate'] as const)), 'X-Request-Id'])

const linked = (names: readonly AnswerHeader[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
