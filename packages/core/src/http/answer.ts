import type { Endpoint, Input } from '@remit/contract'
import type { Handler } from 'hono'
import { Failure } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Impersonations } from '../caller/caller.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { findAnswer, keepAnswer } from '../idempotency/store.ts'
import { AlreadyAnswered } from '../idempotency/claim.ts'
import type { StoredAnswer } from '../idempotency/claim.ts'
import { refuseSuspended } from '../limits/suspension.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { ApiRequest, NOBODY, render, Reply } from './endpoint.ts'
import type { ApiRequestDeps, RequestEnv, Route, Rendered } from './endpoint.ts'
import { fromKept, sealPlaceOf } from './idempotency.ts'

export interface AnswerDeps extends ApiRequestDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  /** Null where no module knows credentials. */
  readonly impersonations: Impersonations | null
  /** Encrypts what an answer kept for repeats must not show in the database. */
  readonly secrets: SecretBox
}

type AnswerBody = ConstructorParameters<typeof Response>[0]

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
    const request = new ApiRequest(c, admission?.caller ?? null, deps)
    if (admission && isComputing) await refuseSuspended(deps.db, admission.caller.orgId)
    let rendered: Rendered
    try {
      rendered = await handle(route, input, request, deps)
    } catch (error) {
      if (!(await admission?.mayRunAgain(error))) throw error
      rendered = await handle(
        route,
        input,
        new ApiRequest(c, admission?.caller ?? null, deps),
        deps,
      )
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

async function handle(
  route: Route,
  input: Input<Endpoint>,
  request: ApiRequest,
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

/** The parameters and the query as their schemas return them. */
interface Validated {
  out: { param: Input<Endpoint>['params']; query: Input<Endpoint>['query'] }
}
