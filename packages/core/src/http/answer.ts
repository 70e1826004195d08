import type { IncomingMessage } from 'node:http'
import type { Endpoint, Input } from '@remit/contract'
import type { Context, Handler } from 'hono'
import { Failure } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Impersonations } from '../caller/caller.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { findAnswer, keepAnswer } from '../idempotency/store.ts'
import { AlreadyAnswered } from '../idempotency/claim.ts'
import type { StoredAnswer, IdempotencyClaim } from '../idempotency/claim.ts'
import { refuseSuspended } from '../limits/suspension.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { parseTraceparent } from '../telemetry/tracing.ts'
import type { Span } from '../telemetry/tracing.ts'
import { addressOf, headerOf } from './header.ts'
import { render, Reply } from './endpoint.ts'
import type { RequestInfo, Route, Rendered } from './endpoint.ts'
import { fromKept, sealPlaceOf } from './idempotency.ts'
import type { Admission } from './admit.ts'
import type { RequestTurns } from './limits.ts'
import type { Body } from './body.ts'

export interface AnswerDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  /** Null where no module knows credentials. */
  readonly impersonations: Impersonations | null
  /** Encrypts what an answer kept for repeats must not show in the database. */
  readonly secrets: SecretBox
  readonly requests: RequestTurns
  /** Ends when the server closes. */
  readonly closing: AbortSignal
}

type RequestContext = Context<RequestEnv, string, Validated>

type AnswerBody = ConstructorParameters<typeof Response>[0]

/** The owner of requests that need no key. */
export const NOBODY = ''

const PREFERS_RECEIPT = /(?:^|[,;\s])receipt(?:$|[,;\s])/i

/** The last step of a request: its handler, or the answer kept for a repeat. */
export function answer(route: Route, deps: AnswerDeps): Handler<RequestEnv, string, Validated> {
  const isComputing = computes(route.endpoint)
  return async (c) => {
    const admission = c.get('admission')
    const input = {
      params: c.req.valid('param'),
      query: c.req.valid('query'),
      body: c.get('body')?.value as undefined,
    }
    const request = requestOf(c, deps)
    if (admission && isComputing) await refuseSuspended(deps.db, admission.caller.orgId)
    let rendered: Rendered
    try {
      rendered = await handle(route, input, request, deps)
    } catch (error) {
      if (!(await admission?.mayRunAgain(error))) throw error
      rendered = await handle(route, input, requestOf(c, deps), deps)
    }
    const isUnread = c.req.raw.method === 'HEAD' && rendered.body instanceof ReadableStream
    // Nobody reads the body of a HEAD, so a stream would stay open for ever.
    if (isUnread) await (rendered.body as ReadableStream).cancel()
    return new Response(isUnread ? null : (rendered.body as AnswerBody), {
      status: rendered.status,
      headers: {
        'Cache-Control': 'no-store',
        'X-Request-Id': request.requestId,
        ...admission?.limits,
        ...rendered.headers,
      },
    })
  }
}

/** Work for the organization that the writer, which refuses the suspended ones, does not see. */
const computes = ({ method, viaWriter, public: isPublic, whileSuspended }: Endpoint): boolean =>
  method === 'POST' && !viaWriter && !isPublic && !whileSuspended

const nothing = () => Promise.resolve()

const requestOf = (c: RequestContext, { closing, requests }: AnswerDeps): RequestInfo => {
  const admission = c.get('admission')
  const parent = headerOf(c, 'traceparent')
  return {
    requestId: c.get('requestId'),
    // No getter: the engine keeps the closures of one until the next full garbage collection.
    caller: admission?.caller ?? null,
    operator: c.get('operator') ?? null,
    whileSuspended: c.get('route').endpoint.whileSuspended === true,
    claim: c.get('claim') ?? null,
    wantsNote: PREFERS_RECEIPT.test(headerOf(c, 'prefer') ?? ''),
    trace: parent === undefined ? null : parseTraceparent(parent),
    span: c.get('span') ?? null,
    accept: headerOf(c, 'accept') ?? '',
    url: () => c.req.url,
    header: (name) => headerOf(c, name),
    address: () => addressOf(c),
    // On demand: few requests wait, and a signal costs more than most of them take.
    signal: () => AbortSignal.any([c.req.raw.signal, closing]),
    turn: () => requests.take(admission?.caller.orgId ?? NOBODY),
    charge: (more) => admission?.charge(more) ?? nothing(),
    recheck: () => admission?.recheck() ?? nothing(),
  }
}

async function handle(
  route: Route,
  input: Input<Endpoint>,
  request: RequestInfo,
  deps: AnswerDeps,
): Promise<Rendered> {
  const { endpoint } = route
  const { db, clock, secrets } = deps
  const { caller, claim } = request
  const orgId = caller?.orgId ?? NOBODY
  const repeated = (kept: StoredAnswer) => {
    const again = { ...kept, headers: { ...kept.headers, 'Idempotency-Replayed': 'true' } }
    return claim ? fromKept(endpoint, again, sealPlaceOf(orgId, claim.key), secrets) : again
  }
  // If the writer does the work, it also keeps the answer, in the same transaction.
  const own = endpoint.viaWriter ? null : claim
  try {
    const kept = own && (await findAnswer(db, orgId, own, clock.now()))
    if (kept) return repeated(kept)
    const reply = await route.handle(input, caller, request)
    const isKept = !(reply instanceof Reply) || reply.isKept
    if (own && isKept) await keepAnswer(db, orgId, own, own.encode(reply), clock.now())
    return render(endpoint, reply)
  } catch (error) {
    if (error instanceof AlreadyAnswered) return repeated(error.answer)
    if (caller && error instanceof Failure && error.extras.asked !== undefined) {
      // The refusal of a caller that has ended is another one, and is not recorded.
      await request.recheck()
      await deps.impersonations?.refused(caller, error.extras.asked, request.requestId)
    }
    throw error
  }
}

/** The state of a request to an endpoint, as Hono's context carries it. */
export interface RequestEnv {
  Bindings: {
    /** Node's request, where the server runs on a socket. */
    incoming?: IncomingMessage
  }
  Variables: {
    route: Route
    requestId: string
    /** Absent unless the request is sampled. */
    span?: Span
    /** Absent where the request needs no key. */
    admission?: Admission
    /** The name of the operator's key. */
    operator?: string
    /** The body, where authentication had to read it; its failure is not reported yet. */
    earlyBody?: Promise<Uint8Array>
    body?: Body
    /** The claim of an `Idempotency-Key`. */
    claim?: IdempotencyClaim
  }
}

/** The parameters and the query as their schemas return them. */
interface Validated {
  out: { param: Input<Endpoint>['params']; query: Input<Endpoint>['query'] }
}
