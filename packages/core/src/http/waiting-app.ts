import { Hono } from 'hono'
import { unavailable } from '../db/failure.ts'
import { crossOrigin } from './cross-origin.ts'
import { requestIdOf } from './header.ts'
import { problemResponse } from './problem.ts'
import { mountStatus } from './status.ts'
import type { StatusDeps } from './status.ts'

/** Serves `/health` and `/ready` while migrations are pending; everything else is 503. */
export function waitingApp(
  deps: StatusDeps & { readonly corsOrigins?: readonly string[] | undefined },
): Hono {
  const app = new Hono()
  if (deps.corsOrigins?.length) app.use(crossOrigin(deps.corsOrigins))
  mountStatus(app, deps)
  app.notFound((c) => problemResponse(unavailable('database_unavailable'), requestIdOf(c)))
  return app
}
