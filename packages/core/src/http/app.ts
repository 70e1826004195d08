import { Hono } from 'hono'
import type { Context } from 'hono'
import type { Logger } from 'pino'
import { endpoints as wholeContract } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import type { Route } from './implement.ts'
import { mountConsole } from './console.ts'
import type { ConsoleDeps } from './console.ts'
import { crossOrigin } from './cross-origin.ts'
import { makeDocument } from './document-job.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Computer } from '../threads/pool.ts'
import { oauthResponse } from './oauth-problem.ts'
import { mountOpenApi, mountPages } from './pages.ts'
import type { PublicPage } from './pages.ts'
import { asFailure, problemResponse } from './problem.ts'
import { requestIdOf } from './header.ts'
import { NOBODY } from './answer.ts'
import { pipeline } from './pipeline.ts'
import type { PipelineDeps } from './pipeline.ts'
import type { RequestEnv } from './request-env.ts'
import { metricsApp, mountStatus } from './status.ts'
import type { StatusDeps } from './status.ts'
import { refuseUnrouted } from './unrouted.ts'
import type { Served } from './unrouted.ts'

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
  withParameters.notFound((c) => problemResponse(refuse(c.req.path), requestIdOf(c)))
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
    return (route?.endpoint.oauth ? oauthResponse : problemResponse)(failure, requestId)
  }

const openPages = ({
  metricsApart = false,
  pages = [],
  console: files,
  ...more
}: AppOptions): Served[] =>
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
