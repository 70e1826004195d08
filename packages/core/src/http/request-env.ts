import type { Input, Endpoint } from '@remit/contract'
import type { IncomingMessage } from 'node:http'
import type { IdempotencyClaim } from '../idempotency/claim.ts'
import type { Admission } from './admission.ts'
import type { Span } from '../telemetry/tracing.ts'
import type { Body } from './bodies.ts'
import type { Route } from './implement.ts'

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
export interface Validated {
  out: { param: Input<Endpoint>['params']; query: Input<Endpoint>['query'] }
}
