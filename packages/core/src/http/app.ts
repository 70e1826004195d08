import { setTimeout } from 'node:timers/promises'
import { Hono } from 'hono'
import type { Context } from 'hono'
import type { Logger } from 'pino'
import { endpoints as wholeContract } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import type { Route } from './implement.ts'
import { crossOrigin } from './cross-origin.ts'
import { makeDocument } from './document-job.ts'
import type { Computer } from '../threads/pool.ts'
import type { HttpMetrics } from './metrics.ts'
import { oauthResponse } from './oauth-problem.ts'
import { mountOpenApi, mountPages } from './pages.ts'
import type { Page } from './pages.ts'
import { asFailure, problemResponse } from './problem.ts'
import { requestIdOf } from './request-id.ts'
import { NOBODY, serve } from './serve.ts'
import type { ServeDeps } from './serve.ts'
import { mountStatus } from './status.ts'
import type { StatusDeps } from './status.ts'
import { refuseUnrouted } from './unrouted.ts'
import type { Served } from './unrouted.ts'

export interface AppOptions extends ServeDeps, StatusDeps {
  readonly routes: readonly Route[]
  readonly log: Logger
  readonly metrics: HttpMetrics
  readonly computer: Computer
  /** Origins whose pages may call the API; none unless given. */
  readonly corsOrigins?: readonly string[]
  /** Further pages, such as the API reference; none unless given. */
  readonly pages?: readonly Page[]
}

/** Paths without a key that cost more than `/health`, which never waits for them. */
const LARGE_PAGES = ['/metrics', '/openapi.json']

/** Milliseconds before the answer to a caller that sends too much. */
const REFUSAL_PAUSE_MS = 200

/** The HTTP application: exactly the given routes and what is not under /v1. */
export function createApp(options: AppOptions): Hono {
  // Paths without parameters have a router of their own: Hono's fast one, which takes no path that
  // another could also match.
  const app = new Hono()
  const withParameters = new Hono()
  if (options.corsOrigins?.length) app.use(crossOrigin(options.corsOrigins))
  for (const route of options.routes) {
    const room = route.endpoint.params ? withParameters : app
    room.on(route.endpoint.method, honoPath(route.endpoint), (c) => respond(route, c, options))
  }
  const pages = options.pages ?? []
  for (const path of [...LARGE_PAGES, ...pages.map((page) => page.path)])
    app.use(path, async (_, next) => {
      await options.requests.take(NOBODY)
      await next()
    })
  mountStatus(app, options)
  const names = Object.keys(wholeContract).filter((name) =>
    options.routes.some((route) => route.name === name),
  )
  const { computer, version } = options
  mountOpenApi(app, () => makeDocument(computer, NOBODY, { names, version }))
  mountPages(app, pages)
  const refuse = refuseUnrouted([
    ...options.routes.map(({ endpoint }) => endpoint),
    ...openPages(options),
  ])
  app.notFound((c) => withParameters.fetch(c.req.raw, c.env))
  withParameters.notFound((c) => problemResponse(refuse(c.req.path), requestIdOf(c)))
  for (const room of [app, withParameters]) {
    room.onError((error, c) => {
      options.log.error({ err: error }, 'a request failed outside its endpoint')
      return problemResponse(error, requestIdOf(c))
    })
  }
  return app
}

const openPages = ({ metricsApart = false, pages = [] }: AppOptions): Served[] =>
  [
    '/health',
    '/ready',
    '/openapi.json',
    ...(metricsApart ? [] : ['/metrics']),
    ...pages.map(({ path }) => path),
  ].map((path) => ({ method: 'GET', path }))

const honoPath = ({ path }: Endpoint): string => path.replace(/\{(\w+)\}/g, ':$1')

async function respond(route: Route, c: Context, options: AppOptions): Promise<Response> {
  const started = performance.now()
  const requestId = requestIdOf(c)
  let response: Response
  try {
    response = await serve(route, c, requestId, options)
  } catch (error) {
    const failure = asFailure(error)
    // A 503 was foreseen and has been logged where it arose; only what is unknown needs its stack.
    const facts = { request_id: requestId, route: route.name, status: failure.status }
    if (failure.status === 503) options.log.warn(facts, failure.code)
    else if (failure.status >= 500) options.log.error({ ...facts, err: error }, failure.code)
    response = (route.endpoint.oauth ? oauthResponse : problemResponse)(failure, requestId)
  }
  const ms = performance.now() - started
  options.metrics.observe(route.name, response.status, ms)
  // A refusal costs little, but a caller that repeats it at once could still fill the event loop.
  if (response.status === 429) await setTimeout(REFUSAL_PAUSE_MS)
  if (options.log.isLevelEnabled('debug')) {
    const facts = { request_id: requestId, route: route.name, status: response.status, ms }
    options.log.debug(facts, 'request')
  }
  return response
}
