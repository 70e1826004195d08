import { setTimeout } from 'node:timers/promises'
import type { Endpoint, Plan, Validation } from '@remit/contract'
import type { Context, MiddlewareHandler } from 'hono'
import type { Logger } from 'pino'
import { z } from 'zod'
import { zValidator } from '@hono/zod-validator'
import type { Hook } from '@hono/zod-validator'
import { Failure, fail, invalid } from '../base/errors.ts'
import type { OperatorKeys } from '../keys/operator-keys.ts'
import { formFault } from '../keys/key-text.ts'
import { allowsKeylessExchange } from '../orgs/organizations.ts'
import { requireSameOrigin } from '../sessions/sessions.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { authenticate, presentedBy, presentedByClient, presentedKey } from './admit.ts'
import type { Admission, AdmissionDeps, PresentedKey } from './admit.ts'
import { answer } from './answer.ts'
import type { AnswerDeps } from './answer.ts'
import { readBody, requireType } from './body.ts'
import { addressOf, headerOf, requestIdOf } from './header.ts'
import type { Bodies } from './body.ts'
import { claimOf } from './idempotency.ts'
import type { RunningClaims } from './idempotency.ts'
import { NOBODY } from './endpoint.ts'
import type { RequestEnv, Route } from './endpoint.ts'
import type { ObserveRequest } from '../telemetry/metrics.ts'
import { parseTraceparent } from '../telemetry/tracing.ts'
import type { Span, Tracer } from '../telemetry/tracing.ts'
import { invalidInput, FOR_FIELD_ERRORS } from '../base/fields.ts'

export interface PipelineDeps extends AdmissionDeps, AnswerDeps {
  readonly bodies: Bodies
  readonly claims: RunningClaims
  readonly deadlines: Deadlines
  readonly log: Logger
  readonly observeRequest: ObserveRequest
  /** The plan of the license. */
  readonly planCeiling: Plan
  /** Null unless tracing is configured. */
  readonly tracer: Tracer | null
  /** Absent where operators have no API. */
  readonly operatorKeys?: OperatorKeys
}

type Step = MiddlewareHandler<RequestEnv>

/** Milliseconds before the answer to a caller that sends too much. */
const REFUSAL_PAUSE_MS = 200

/** The middlewares of an endpoint. Their order is the documented order of refusals. */
export function pipeline(route: Route, deps: PipelineDeps): Step[] {
  const { endpoint } = route
  return [
    observe(route, deps),
    ...(endpoint.sameOrigin ? [ownPage(deps)] : []),
    ...(endpoint.operator ? [operatorKey(deps)] : endpoint.public ? [] : [admit(endpoint, deps)]),
    ...(validates(endpoint) ? [answerErrors(endpoint)] : []),
    endpoint.body ? body(route, deps) : turn(deps),
    ...validateParams(endpoint),
    ...validateQuery(endpoint),
    deadline(endpoint, deps),
    ...(endpoint.method === 'POST' && !endpoint.public ? [idempotency(endpoint, deps)] : []),
    answer(route, deps),
  ]
}

const validates = ({ query }: Endpoint): boolean =>
  query instanceof z.ZodObject && 'validate' in query.shape

const observe =
  (route: Route, { log, observeRequest, tracer }: PipelineDeps): Step =>
  async (c, next) => {
    const started = performance.now()
    const requestId = requestIdOf(c)
    c.set('route', route)
    c.set('requestId', requestId)
    const span = tracer && startSpan(tracer, route, c)
    await next()
    const { status } = c.res
    span?.set({ 'http.response.status_code': status })
    span?.end(status >= 500)
    const ms = performance.now() - started
    observeRequest(route.name, status, ms)
    // A refusal costs little, but a caller that repeats it at once could still fill the event loop.
    if (status === 429) await setTimeout(REFUSAL_PAUSE_MS)
    if (log.isLevelEnabled('debug'))
      log.debug({ request_id: requestId, route: route.name, status, ms }, 'request')
  }

function startSpan(
  tracer: Tracer,
  { endpoint: { method, path } }: Route,
  c: Context<RequestEnv>,
): Span | null {
  const given = headerOf(c, 'traceparent')
  const parent = given === undefined ? null : parseTraceparent(given)
  const attributes = { 'http.request.method': method, 'http.route': path }
  const span = tracer.start(`${method} ${path}`, parent, attributes)
  if (span) c.set('span', span)
  return span
}

/** Finds the caller, counts the request, and refuses a plan or role that does not reach the endpoint. */
const admit =
  (endpoint: Endpoint, deps: PipelineDeps): Step =>
  async (c, next) => {
    const presented = endpoint.form
      ? await presentedByClient(c, endpoint, () => readBody(c, endpoint))
      : presentedBy(c, deps.sessions)
    if (presented.body) c.set('earlyBody', presented.body)
    if (endpoint.keyless && (await isKeyless(endpoint, presented, deps))) return next()
    let admission: Admission
    try {
      admission = await authenticate(endpoint, presented, () => addressOf(c), deps)
    } catch (error) {
      if (!mayIgnore(endpoint, presented, error)) throw error
      return next()
    }
    if (presented.session !== undefined) checkPage(c, endpoint, deps.sessions)
    c.set('admission', admission)
    await admission.admit()
    await next()
    if (c.error instanceof Failure && c.error.status < 500) await admission.confirm()
  }

async function isKeyless(
  { keyless }: Endpoint,
  { header, session }: PresentedKey,
  { db, planCeiling }: PipelineDeps,
): Promise<boolean> {
  if (header !== undefined || session !== undefined) return false
  return keyless === 'always' || allowsKeylessExchange(db, planCeiling)
}

/** A browser sends the cookie of a session that has ended: that is the same as none. */
const mayIgnore = ({ keyless }: Endpoint, { session }: PresentedKey, error: unknown): boolean =>
  keyless === 'always' &&
  session !== undefined &&
  error instanceof Failure &&
  error.code === 'unauthorized'

/** Refuses what a page of another origin could make a browser send with the cookie. */
function checkPage(c: Context<RequestEnv>, endpoint: Endpoint, sessions: Sessions): void {
  if (endpoint.method === 'GET') return
  requireSameOrigin((name) => headerOf(c, name), sessions.place)
  // Other endpoints require this themselves.
  if (endpoint.body && endpoint.lenient) requireType(c, { ...endpoint, lenient: undefined })
}

const ownPage =
  ({ sessions }: PipelineDeps): Step =>
  async (c, next) => {
    requireSameOrigin((name) => headerOf(c, name), sessions.place)
    await next()
  }

/** The header `Authorization` alone; two keys are refused here too. */
const operatorKeyOf = (c: Context<RequestEnv>): string | undefined =>
  presentedKey(c) && c.req.header('authorization')

/** Operators have keys of their own, which the settings of the server name. */
const operatorKey =
  ({ operatorKeys, failedKeys, rateLimit }: PipelineDeps): Step =>
  async (c, next) => {
    const name = operatorKeys?.nameOf(operatorKeyOf(c)) ?? null
    if (name === null) {
      const address = addressOf(c)
      if (address !== undefined) await failedKeys?.take(address)
      throw fail(
        'unauthorized',
        formFault(operatorKeyOf(c)) ??
          'Send the header Authorization: Bearer <key> with an operator key',
        {
          headers: { 'WWW-Authenticate': 'Bearer realm="remit operator"' },
        },
      )
    }
    await rateLimit?.take(`operator ${name}`)
    c.set('operator', name)
    await next()
  }

const body =
  (route: Route, { bodies }: PipelineDeps): Step =>
  async (c, next) => {
    const owner = c.get('admission')?.caller.orgId ?? NOBODY
    c.set('body', await bodies.read(route, c, owner, c.get('earlyBody')))
    await next()
  }

/** Requests with a body take their turn when it has arrived. */
const turn =
  ({ requests }: PipelineDeps): Step =>
  async (c, next) => {
    const admission = c.get('admission')
    const waiting = admission && requests.take(admission.caller.orgId)
    if (waiting) await waiting
    await next()
  }

const deadline = ({ maxSeconds }: Endpoint, { deadlines }: PipelineDeps): Step => {
  const limitMs = maxSeconds && maxSeconds * 1000
  return (_, next) => deadlines.guard(next(), limitMs)
}

const idempotency =
  (endpoint: Endpoint, deps: PipelineDeps): Step =>
  (c, next) => {
    const key = headerOf(c, 'idempotency-key')
    const caller = c.get('admission')?.caller
    if (key === undefined || !caller) return next()
    const { url } = c.req
    const request = { id: c.get('requestId'), key, url, bytes: c.get('body')?.bytes }
    const claim = claimOf(endpoint, caller, request, deps.secrets)
    c.set('claim', claim)
    return deps.claims.hold(caller.orgId, claim, next)
  }

/** Checks parameters of the path; the problem document names the faulty ones. */
const validateParams = ({ params }: Endpoint): MiddlewareHandler<RequestEnv>[] =>
  params ? [refusePath, zValidator('param', params, refuse, options)] : []

/** Checks the query. Most requests have none, so an endpoint without parameters only looks for `?`. */
function validateQuery({ query, lenient }: Endpoint): MiddlewareHandler<RequestEnv>[] {
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

/**
 * Answers `?validate=true` with the errors that the request would be refused with: those of the shape
 * and those that the handler finds. Other refusals, such as that of a role, stay refusals.
 */
function answerErrors({ query }: Endpoint): MiddlewareHandler<RequestEnv> {
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

interface Open {
  readonly until: number
  readonly expire: () => void
  /** Its index among the open ones. */
  at: number
}

/** Limits the duration of requests without one timer per request. */
export class Deadlines {
  /**
   * Not a `Set`: finished requests were retained until the next full garbage collection by old
   * tables of a set that grew or shrank.
   */
  readonly #open: Open[] = []
  readonly #limitMs: number
  readonly #timer: NodeJS.Timeout

  constructor(limitMs = 30_000) {
    this.#limitMs = limitMs
    this.#timer = setInterval(() => this.#sweep(), 1_000).unref()
  }

  /** Number of requests in progress. */
  get size(): number {
    return this.#open.length
  }

  /** Returns the result of the promise, or throws `deadline_exceeded` (503) after the limit. */
  guard<T>(work: Promise<T>, limitMs: number = this.#limitMs): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const entry = {
      until: performance.now() + limitMs,
      expire: () => reject(overdue()),
      at: this.#open.length,
    }
    this.#open.push(entry)
    // Not `finally`, which creates two more promises per request.
    work.then(
      (result) => {
        this.#forget(entry)
        return resolve(result)
      },
      (error: Error) => {
        this.#forget(entry)
        reject(error)
      },
    )
    return promise
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Moves the last entry to its place; a removed entry no longer has one. */
  #forget(entry: Open): void {
    if (this.#open[entry.at] !== entry) return
    const last = this.#open.pop()
    if (!last || last === entry) return
    this.#open[entry.at] = last
    last.at = entry.at
  }

  #sweep(): void {
    const now = performance.now()
    for (const entry of this.#open.filter(({ until }) => until < now)) {
      this.#forget(entry)
      entry.expire()
    }
  }
}

const overdue = () =>
  fail(
    'deadline_exceeded',
    'The request exceeded its deadline; it may or may not have been carried out',
    { headers: { 'Retry-After': '1' } },
  )
