import { Hono } from 'hono'
import type { Context } from 'hono'
import type { Logger } from 'pino'
import { endpoints as wholeContract } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import { mountConsole } from './console.ts'
import type { ConsoleDeps } from './console.ts'
import { crossOrigin } from './cross-origin.ts'
import { makeDocument } from './document-job.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Computer } from '../threads/pool.ts'
import { oauthResponse, asFailure, problemResponse } from './problem.ts'
import { metricsApp, mountStatus } from './status.ts'
import type { StatusDeps } from './status.ts'
import { requestIdOf } from './header.ts'
import { NOBODY } from './endpoint.ts'
import type { RequestEnv, Route } from './endpoint.ts'
import { pipeline } from './pipeline.ts'
import type { PipelineDeps } from './pipeline.ts'
import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'

export interface AppOptions extends PipelineDeps, StatusDeps, ConsoleDeps {
  readonly routes: readonly Route[]
  readonly computer: Computer
  readonly metrics: Metrics
  /** `/metrics` is served on a separate port. */
  readonly metricsApart?: boolean
  /** Origins whose pages may call the API. Default: none. */
  readonly corsOrigins?: readonly string[]
  /** Further pages, such as the API reference; none unless given. */
  readonly pages?: readonly PublicPage[]
}

/** Paths without a key that cost more than `/health`, which never waits for them. */
const LARGE_PAGES = ['/metrics', '/openapi.json']

/** The HTTP application: exactly the given routes and what is not under /v1. */
export function createApp(options: AppOptions): Hono {
  // Paths without parameters have their own router: Hono's fast one, which requires that no other
  // path matches.
  const app = new Hono()
  const withParameters = new Hono()
  if (options.corsOrigins?.length) app.use(crossOrigin(options.corsOrigins))
  for (const route of options.routes) {
    const { endpoint } = route
    const router = endpoint.params ? withParameters : app
    router.on(endpoint.method, [honoPath(endpoint)], ...pipeline(route, options))
  }
  const pages = options.pages ?? []
  for (const path of [...LARGE_PAGES, ...pages.map((page) => page.path)])
    app.use(path, async (_, next) => {
      await options.requests.take(NOBODY)
      await next()
    })
  mountStatus(app, options)
  if (!options.metricsApart) app.route('/', metricsApp(options.metrics))
  const names = Object.keys(wholeContract).filter((name) =>
    options.routes.some((route) => route.name === name),
  )
  const { computer, version } = options
  mountOpenApi(app, () => makeDocument(computer, NOBODY, { names, version }))
  mountPages(app, pages)
  mountConsole(withParameters, options)
  const refuse = refuseUnrouted([
    ...options.routes.map(({ endpoint }) => endpoint),
    ...openPages(options),
  ])
  app.notFound((c) => withParameters.fetch(c.req.raw, c.env))
  // A client takes an answer of the token endpoint without `error` for a token.
  const forClients = new Set<string>(
    options.routes.flatMap(({ endpoint }) => (endpoint.form ? endpoint.path : [])),
  )
  withParameters.notFound((c) => {
    const respond = forClients.has(c.req.path) ? oauthResponse : problemResponse
    return respond(refuse(c.req.path), requestIdOf(c))
  })
  app.onError(onError(options.log))
  withParameters.onError(onError(options.log))
  return app
}

/** Turns what any step throws into the answer. */
const onError =
  (log: Logger) =>
  (error: Error, c: Context): Response => {
    const { route, requestId = requestIdOf(c) } = c.var as Partial<RequestEnv['Variables']>
    const failure = asFailure(error)
    // A 503 was foreseen and has been logged where it arose; only what is unknown needs its stack.
    const facts = { request_id: requestId, route: route?.name, status: failure.status }
    if (failure.status === 503) log.warn(facts, failure.code)
    else if (failure.status >= 500) log.error({ ...facts, err: error }, failure.code)
    return (route?.endpoint.form ? oauthResponse : problemResponse)(failure, requestId)
  }

const openPages = ({
  metricsApart = false,
  pages = [],
  console: files,
  ...more
}: AppOptions): SupportedMethod[] =>
  [
    '/health',
    '/ready',
    '/openapi.json',
    ...(metricsApart ? [] : ['/metrics']),
    ...pages.map(({ path }) => path),
    ...(files ? ['/console'] : []),
    '/console/start',
    ...(more.consolePages ?? []).map(({ path }) => path),
  ].map((path) => ({ method: 'GET', path }))

const honoPath = ({ path }: Endpoint): string => path.replace(/\{(\w+)\}/g, ':$1')

/** A fixed document outside of `/v1`, served without a key. */
export interface PublicPage {
  /** Begins with `/`; matched as it is. */
  readonly path: string
  /** The media type, with its charset where it is text. */
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

const SNIFFING_OFF = { 'X-Content-Type-Options': 'nosniff' }

/** Serves each page as given, to GET and HEAD. */
function mountPages(app: Hono, pages: readonly PublicPage[]): void {
  for (const { path, type, body, headers } of pages)
    app.get(path, (c) => c.body(body, 200, { 'Content-Type': type, ...SNIFFING_OFF, ...headers }))
}

/**
 * `/openapi.json`. `make` runs once, at the first request: it takes longer than the rest of
 * the start. It runs again if it failed.
 */
export function mountOpenApi(app: Hono, make: () => Promise<string>): void {
  let document: Promise<Uint8Array<ArrayBuffer>> | undefined
  app.get('/openapi.json', async (c) => {
    document ??= make().then(
      (text) => new TextEncoder().encode(text),
      (error: unknown) => {
        document = undefined
        throw error
      },
    )
    return c.body(await document, 200, { 'Content-Type': 'application/json', ...SNIFFING_OFF })
  })
}

/** A path template (`/v1/ledger/{seq}`) with a supported method. */
interface SupportedMethod {
  readonly method: string
  readonly path: string
}

/** Creates the refusal of a request without a route: 405 with `Allow` on a known path, else 404. */
export function refuseUnrouted(served: readonly SupportedMethod[]): (path: string) => Failure {
  const known = served.map(({ method, path }) => ({ method, matches: templateMatcher(path) }))
  return (path) => {
    const methods = new Set(
      known.filter(({ matches }) => matches.test(path)).map(({ method }) => method),
    )
    if (methods.size === 0) return fail('not_found', `The path ${path} does not exist`)
    if (methods.has('GET')) methods.add('HEAD')
    const allow = [...methods].toSorted().join(', ')
    return fail('method_not_allowed', `${path} supports ${allow}`, { headers: { Allow: allow } })
  }
}

function templateMatcher(path: string): RegExp {
  const parts = path
    .split(/\{\w+\}/)
    .map((literal) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^/]+')}$`)
}
