import { RemitError } from './error.ts'

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

const FIRST_MS = 200
const LONGEST_MS = 5_000
/** A server that asks for more is not waited for. */
const LONGEST_ASKED_MS = 60_000

/** Milliseconds before the next attempt: what the server asks for, else exponential with full jitter. */
export const delayAfter = (attempt: number, error: RemitError): number =>
  error.retryAfterMs ?? Math.random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt)

/** Returns whether the same request may succeed later. `repeatable`: carrying it out twice does no harm. */
export function canRetry(error: RemitError, repeatable: boolean): boolean {
  if ((error.retryAfterMs ?? 0) > LONGEST_ASKED_MS) return false
  // Refused before anything was done.
  if (error.status === 429) return true
  return repeatable && (isTransient(error.status) || error.code === 'idempotency_in_progress')
}

/** No answer, an answer that broke off, or one that a later attempt may better. */
const isTransient = (status: number): boolean =>
  status === 0 || status === 408 || status >= 500 || (status >= 200 && status < 300)

/** Calls `attempt` again after transient failures, up to `retries` times. */
export async function withRetries<T>(
  options: {
    readonly retries: number
    readonly repeatable: boolean
    readonly signal?: AbortSignal
  },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof RemitError) || failed >= options.retries) throw error
      if (!canRetry(error, options.repeatable)) throw error
      await pause(delayAfter(failed, error), options.signal)
    }
  }
}

/**
 * Runs `work` with a signal that ends with the caller's and after `ms`, and settles then, even if `work`
 * ignores its signal. Rejects with the caller's own reason, or with `timed_out`. Leaves no timer behind.
 */
export function withTimeLimit<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const controller = new AbortController()
    const end = (reason: Error) => {
      release()
      reject(reason)
      controller.abort(reason)
    }
    const onAbort = () => end(signal?.reason as Error)
    const late = () =>
      end(new RemitError({ code: 'timed_out', message: `no answer within ${ms} ms` }))
    const timer = setTimeout(late, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
    const release = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    work(controller.signal).then(
      (result) => {
        release()
        return resolve(result)
      },
      (error: Error) => {
        release()
        reject(error)
      },
    )
  })
}

/** Resolves after `ms`; rejects with the signal's reason. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
  signal?.throwIfAborted()
}
