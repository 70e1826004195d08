import { sql } from 'kysely'
import { Hono } from 'hono'
import type { Database } from '../db/open.ts'
import { pendingMigrations } from '../db/migrate.ts'
import type { MigrationSet } from '../db/migration-set.ts'
import type { CoreTables } from '../db/schema.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { unavailable } from '../db/failure.ts'
import { crossOrigin } from './cross-origin.ts'
import { requestIdOf } from './header.ts'
import { problemResponse } from './problem.ts'

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
