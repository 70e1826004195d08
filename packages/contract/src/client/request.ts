/** The parts of a call, as they are at run time. */
export interface LooseCall {
  readonly params?: Readonly<Record<string, string | number | undefined>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** The body as JSON, if it is written already. */
  readonly json?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as `Idempotency-Key`; makes a POST safe to retry. */
  readonly idempotencyKey?: string
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Milliseconds for one attempt; for a stream, until it begins. */
  readonly timeoutMs?: number
  /** Further attempts after transient failures. */
  readonly retries?: number
}

/** The address and path that all endpoints are below. Throws a `TypeError` for another kind of URL. */
export function readBase(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isPlain = url?.search === '' && url.hash === '' && url.username === ''
  if (!url || !/^https?:$/.test(url.protocol) || !isPlain)
    throw new TypeError(
      `baseUrl must be an http or https URL without credentials, query and fragment, not ${baseUrl}`,
    )
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** The URL of a call. Throws a `TypeError` that names a path parameter which is missing or unusable. */
export function urlOf(base: string, name: string, path: string, call: LooseCall): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = call.params?.[parameter]
    const text = value === undefined ? '' : String(value)
    // A URL parser resolves dots away, and another endpoint would be called.
    if (text === '' || text === '.' || text === '..')
      throw new TypeError(`${name} needs params.${parameter}: a text other than "", "." and ".."`)
    return encodeURIComponent(text)
  })
  if (call.query === undefined) return base + filled
  const query = new URLSearchParams()
  for (const [member, value] of Object.entries(call.query))
    if (value !== undefined) query.set(member, String(value))
  return query.size > 0 ? `${base}${filled}?${query.toString()}` : base + filled
}

/** The parts of a request. A `Request` would be copied by `fetch`, at a third of the cost of a call. */
export function initOf(
  method: string,
  key: string,
  call: LooseCall,
  signal: AbortSignal,
): RequestInit {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  if (call.body !== undefined) headers['content-type'] = 'application/json'
  if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey
  for (const name of Object.keys(call.headers ?? {}))
    headers[name.toLowerCase()] = call.headers?.[name] ?? ''
  return {
    method,
    headers,
    signal,
    // A redirect is nobody's answer. `error` is unknown to some edge runtimes.
    redirect: 'manual',
    ...(call.body !== undefined && { body: call.json ?? JSON.stringify(call.body) }),
  }
}

/** Returns whether a call can be carried out twice without harm. */
export const isRepeatable = (
  method: string,
  { idempotencyKey, headers = {} }: LooseCall,
): boolean =>
  method === 'GET' ||
  (method === 'POST' &&
    (idempotencyKey !== undefined ||
      Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key')))
