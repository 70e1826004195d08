import type { Endpoint } from '@remit/contract'
import type { Context } from 'hono'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { Replay } from '../idempotency/claim.ts'
import type { Claim, StoredAnswer } from '../idempotency/claim.ts'
import { findAnswer, keepAnswer } from '../idempotency/store.ts'
import type { Authenticator } from '../keys/authenticator.ts'
import { Failure } from '../base/errors.ts'
import type { RequestInfo, Route } from './implement.ts'
import type { Impersonations } from '../caller/impersonations.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type { Bodies } from './bodies.ts'
import type { Caller } from '../caller/caller.ts'
import type { Deadlines } from './deadlines.ts'
import { Admission } from './admission.ts'
import type { FailedKeys } from './failed-keys.ts'
import { headerOf, incomingOf } from './header.ts'
import { claimOf } from './idempotency.ts'
import type { RunningClaims } from './idempotency.ts'
import { readInput } from './input.ts'
import { fromKept, placeOf, toKept } from './kept-answer.ts'
import type { Rendered } from './kept-answer.ts'
import { takesKeyless } from '../orgs/keyless.ts'
import { basicRefusal, presentedByClient, presentedKey } from './presented.ts'
import type { Presented } from './presented.ts'
import type { RateLimit } from './rate-limit.ts'
import { readBody } from './read-body.ts'
import { Reply } from './reply.ts'
import type { RequestTurns } from './request-turns.ts'

export interface ServeDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  readonly authenticator: Authenticator
  /** Null where requests are not limited. */
  readonly rateLimit: RateLimit | null
  /** Null where wrong keys are not limited. */
  readonly failedKeys: FailedKeys | null
  readonly deadlines: Deadlines
  readonly claims: RunningClaims
  /** Null where no module knows credentials. */
  readonly impersonations: Impersonations | null
  readonly bodies: Bodies
  /** Encrypts what an answer kept for repeats must not show in the database. */
  readonly secrets: SecretBox
  readonly requests: RequestTurns
  /** Ends when the server closes. */
  readonly closing: AbortSignal
}

/** Kept with an answer, so that a caller sees in a repeat whose request was carried out. */
const FIRST_REQUEST = 'Idempotency-First-Request-Id'
const PREFERS_RECEIPT = /(?:^|[,;\s])receipt(?:$|[,;\s])/i

/**
 * One request to one endpoint, with the refusals in their documented order: key, rate, plan, role,
 * media type, size, shape. Throws a `Failure` for each.
 */
export async function serve(
  route: Route,
  c: Context,
  requestId: string,
  deps: ServeDeps,
): Promise<Response> {
  const { endpoint } = route
  if (endpoint.public) return servePublic(route, c, requestId, deps)
  const readEarly = () => readBody(c, endpoint)
  const { header, body, isBasic }: Presented = endpoint.form
    ? await presentedByClient(c, endpoint, readEarly)
    : { header: presentedKey(c) }
  if (endpoint.keyless && header === undefined && (await takesKeyless(deps.db)))
    return servePublic(route, c, requestId, deps, body)
  const address = () => incomingOf(c)?.socket.remoteAddress
  const admission = new Admission(endpoint, header, address, deps)
  const caller = await admission.first().catch((error: unknown) => {
    throw isBasic ? basicRefusal(error) : error
  })
  const turn = endpoint.body ? undefined : deps.requests.take(caller.orgId)
  if (turn) await turn
  const sent = endpoint.body && (await deps.bodies.read(route, c, caller.orgId, body))
  const input = readInput(endpoint, c, sent?.value)
  const claim = claimOf(
    endpoint,
    caller,
    { key: headerOf(c, 'idempotency-key'), url: c.req.url, bytes: sent?.bytes },
    (reply, key) => {
      const answered = render(endpoint, reply)
      const headers = { ...answered.headers, [FIRST_REQUEST]: requestId }
      return toKept(endpoint, { ...answered, headers }, placeOf(caller, key), deps.secrets)
    },
  )
  const info = infoOf(c, requestId, claim, deps, admission)
  const run = () => admission.run(caller, (admitted) => answer(route, input, admitted, info, deps))
  const rendered = await deps.deadlines.guard(
    deps.claims.hold(caller.orgId, claim, run),
    endpoint.maxSeconds && endpoint.maxSeconds * 1000,
  )
  if (c.req.method === 'HEAD' && rendered.body instanceof ReadableStream) {
    // Nobody reads the body of a HEAD, so a stream would stay open for ever.
    await rendered.body.cancel()
    return responseOf({ ...rendered, body: null }, requestId, admission.limits)
  }
  return responseOf(rendered, requestId, admission.limits)
}

const OPEN = { charge: () => Promise.resolve(), recheck: () => Promise.resolve() }
/** The owner of requests that need no key. */
export const NOBODY = ''

/** A request that needs no key: nobody is let in. */
async function servePublic(
  route: Route,
  c: Context,
  requestId: string,
  deps: ServeDeps,
  body?: Promise<Uint8Array>,
): Promise<Response> {
  const info = infoOf(c, requestId, null, deps, OPEN)
  const { endpoint } = route
  const sent = endpoint.body && (await deps.bodies.read(route, c, NOBODY, body))
  const input = readInput(endpoint, c, sent?.value)
  const reply = await deps.deadlines.guard(route.handle(input, null as never, info))
  return responseOf(render(endpoint, reply), requestId, {})
}

const infoOf = (
  c: Context,
  requestId: string,
  claim: Claim | null,
  deps: ServeDeps,
  admission: Pick<Admission, 'charge' | 'recheck'>,
): RequestInfo => ({
  requestId,
  claim,
  wantsNote: PREFERS_RECEIPT.test(headerOf(c, 'prefer') ?? ''),
  accept: headerOf(c, 'accept') ?? '',
  url: () => c.req.url,
  header: (name) => headerOf(c, name),
  // On demand: few requests wait, and a signal costs more than most of them take.
  signal: () => AbortSignal.any([c.req.raw.signal, deps.closing]),
  charge: (more) => admission.charge(more),
  recheck: () => admission.recheck(),
})

const responseOf = (
  { body, status, headers }: Rendered,
  requestId: string,
  limits: Readonly<Record<string, string>>,
): Response =>
  new Response(body as ConstructorParameters<typeof Response>[0], {
    status,
    headers: { 'Cache-Control': 'no-store', 'X-Request-Id': requestId, ...limits, ...headers },
  })

async function answer(
  route: Route,
  input: Parameters<Route['handle']>[0],
  caller: Caller,
  info: RequestInfo,
  deps: ServeDeps,
): Promise<Rendered> {
  const { endpoint } = route
  // Where the writer does the work, the writer keeps the answer: in the same transaction.
  const claim = endpoint.viaWriter ? null : info.claim
  const repeated = (kept: StoredAnswer) => {
    const again = { ...kept, headers: { ...kept.headers, 'Idempotency-Replayed': 'true' } }
    return info.claim
      ? fromKept(endpoint, again, placeOf(caller, info.claim.key), deps.secrets)
      : again
  }
  try {
    const kept = claim && (await findAnswer(deps.db, caller.orgId, claim, deps.clock.now()))
    if (kept) return repeated(kept)
    const reply = await route.handle(input, caller, info)
    if (claim) await keep(deps, caller, claim, reply)
    return render(endpoint, reply)
  } catch (error) {
    if (error instanceof Replay) return repeated(error.answer)
    if (error instanceof Failure && error.extras.asked !== undefined)
      await deps.impersonations?.refused(caller, error.extras.asked, info.requestId)
    throw error
  }
}

const keep = (deps: ServeDeps, caller: Caller, claim: Claim, reply: unknown): Promise<void> =>
  keepAnswer(deps.db, caller.orgId, claim, claim.encode(reply), deps.clock.now())

function render(endpoint: Endpoint, reply: unknown): Rendered {
  const { body, status, headers } =
    reply instanceof Reply ? (reply as Reply<unknown>) : new Reply(reply)
  const code = status ?? endpoint.status
  if (code === 204) return { status: 204, headers, body: null }
  // A reply that names its own media type brings its text as it is to be sent.
  if (!endpoint.produces && typeof body === 'string' && headers['Content-Type'] !== undefined) {
    return { status: code, headers, body }
  }
  if (!endpoint.produces || headers['Content-Type'] === 'application/json') {
    return {
      status: code,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
  }
  const text = { 'Content-Type': `${endpoint.produces}; charset=utf-8`, ...headers }
  return { status: code, headers: text, body: body as string | ReadableStream<Uint8Array> }
}
