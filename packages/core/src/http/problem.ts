import { PROBLEMS } from '@remit/contract'
import type { FieldError, Problem, ProblemCode } from '@remit/contract'
import { sql } from 'kysely'
import { Hono } from 'hono'
import { isUnavailable, unavailable } from '../db/portable.ts'
import { Failure, fail } from '../base/errors.ts'
import type { FailureExtras } from '../base/errors.ts'
import type { Database } from '../db/open.ts'
import { pendingMigrations } from '../db/migrate.ts'
import type { MigrationSet } from '../db/migration-set.ts'
import type { CoreTables } from '../db/schema.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { crossOrigin } from './cross-origin.ts'
import { requestIdOf } from './header.ts'

// Limits the size of the response to a body with many errors.
const MAX_ERRORS = 50
const MAX_PATH = 256
const MAX_DETAIL = 2_000

/**
 * Converts errors into responses (RFC 9457). Only place to do so. An error that is not a `Failure`
 * becomes a 500 without detail.
 */
export function problemResponse(
  error: unknown,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const failure = asFailure(error)
  return new Response(JSON.stringify(problemBody(failure, requestId)), {
    status: failure.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...headers,
      ...failure.extras.headers,
    },
  })
}

/** Returns the failure that clients see for an error. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  return isUnavailable(error) ? unavailable('database_unavailable') : fail('internal_error')
}

export function problemBody(
  { code, status, message, extras }: Failure,
  requestId: string,
): Problem {
  return {
    type: `urn:remit:problem:${code}`,
    title: PROBLEMS[code][1],
    status,
    detail: cut(message, MAX_DETAIL),
    code,
    request_id: requestId,
    ...(extras.errors && errorsMember(extras.errors)),
    ...extras.extensions,
  }
}

function errorsMember(errors: readonly FieldError[]): Pick<Problem, 'errors' | 'errors_omitted'> {
  const omitted = errors.length - MAX_ERRORS
  return {
    errors: errors
      .slice(0, MAX_ERRORS)
      .map(({ path, message }) => ({ path: cut(path, MAX_PATH), message })),
    ...(omitted > 0 && { errors_omitted: omitted }),
  }
}

/** Limits the errors of a failure to the number that a response shows. */
export function cutErrors({ errors: all, ...extras }: FailureExtras): FailureExtras {
  if (!all) return extras
  const { errors = [], ...omitted } = errorsMember(all)
  return { ...extras, errors, extensions: { ...extras.extensions, ...omitted } }
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`

/** Codes that OAuth also defines. */
const SHARED: ReadonlySet<ProblemCode> = new Set([
  'invalid_request',
  'invalid_grant',
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
])

/**
 * Converts a refusal into a response for OAuth clients (RFC 6749 §5.2). They accept no other media
 * type, so the members of the problem are added to theirs.
 */
export function oauthResponse(error: unknown, requestId: string): Response {
  const failure = asFailure(error)
  const problem = problemBody(failure, requestId)
  const body = {
    error: oauthCode(failure),
    error_description: asciiOnly(problem.detail),
    ...problem,
  }
  return new Response(JSON.stringify(body), {
    status: failure.status,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...failure.extras.headers,
    },
  })
}

function oauthCode({ code, status }: Failure): string {
  if (SHARED.has(code)) return code
  if (status === 401) return 'invalid_client'
  if (status === 403) return 'unauthorized_client'
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** Keeps the characters that RFC 6749 allows in a description. */
const asciiOnly = (text: string): string => text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')

export interface StatusDeps {
  readonly db: Database<CoreTables>
  readonly version: string
  readonly edition: 'community' | 'enterprise'
  readonly modules: readonly string[]
  readonly evaluation: boolean
  readonly migrationSets: readonly MigrationSet[]
  /** Warnings to the operator, for `/ready`; read at each request. */
  readonly warnings: () => readonly string[]
  /** Returns further warnings, from a cache; none without it. */
  readonly openDefaults?: () => Promise<readonly string[]>
}

/** Mounts `/health` and `/ready`: without a key, in every edition. */
export function mountStatus(app: Hono, deps: StatusDeps): void {
  const { edition, version, modules, evaluation } = deps
  app.get('/health', (c) => {
    c.header('Cache-Control', 'no-store')
    return c.json({ status: 'ok', edition, version, modules, evaluation })
  })
  app.get('/ready', async (c) => {
    const { checks, pending } = await checkReady(deps)
    const ready = Object.values(checks).every((check) => check === 'ok')
    c.header('Cache-Control', 'no-store')
    if (!ready) c.header('Retry-After', '1')
    return c.json(
      {
        status: ready ? 'ready' : 'unavailable',
        checks,
        ...(pending.length > 0 && { pending_migrations: pending }),
        warnings: [...deps.warnings(), ...(ready ? ((await deps.openDefaults?.()) ?? []) : [])],
      },
      ready ? 200 : 503,
    )
  })
}

/** Milliseconds for which the text of the metrics is cached, as it needs no key. */
const KEPT_MS = 1_000

/** `/metrics` in the Prometheus text format, at most a second old. */
export function metricsApp(metrics: Metrics): Hono {
  let text: Promise<string> | null = null
  let made = 0
  return new Hono().get('/metrics', async (c) => {
    const now = performance.now()
    if (!text || now - made > KEPT_MS) {
      text = metrics.text()
      made = now
    }
    return c.text(await text, 200, { 'Content-Type': metrics.contentType })
  })
}

interface Readiness {
  readonly checks: Readonly<Record<'database' | 'migrations', string>>
  readonly pending: readonly string[]
}

async function checkReady({ db, migrationSets }: StatusDeps): Promise<Readiness> {
  try {
    await sql`select 1`.execute(db)
    const pending = await pendingMigrations(db, migrationSets)
    const migrations = pending.length === 0 ? 'ok' : 'pending_migrations'
    return { checks: { database: 'ok', migrations }, pending }
  } catch {
    return { checks: { database: 'unavailable', migrations: 'unknown' }, pending: [] }
  }
}

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
