import { sql } from 'kysely'
import { Hono } from 'hono'
import type { Database } from '../db/open.ts'
import { pendingMigrations } from '../db/migrate.ts'
import type { MigrationSet } from '../db/migrate.ts'
import type { CoreTables } from '../db/schema.ts'
import type { HttpMetrics } from './metrics.ts'

export interface StatusDeps {
  readonly db: Database<CoreTables>
  readonly version: string
  readonly edition: 'community' | 'enterprise'
  readonly modules: readonly string[]
  readonly evaluation: boolean
  readonly migrationSets: readonly MigrationSet[]
  /** Development-only settings, listed on `/ready`. */
  readonly warnings: readonly string[]
  readonly metrics: HttpMetrics
  /** `/metrics` is served on a separate port. */
  readonly metricsApart?: boolean
}

/** Mounts `/health`, `/ready` and `/metrics`: without a key, in every edition. */
export function mountStatus(app: Hono, deps: StatusDeps): void {
  const { edition, version, modules, evaluation } = deps
  app.get('/health', (c) => {
    c.header('Cache-Control', 'no-store')
    return c.json({ status: 'ok', edition, version, modules, evaluation })
  })
  app.get('/ready', async (c) => {
    const { database, migrations } = await checkReady(deps)
    const ready = database === 'ok' && migrations === 'ok'
    c.header('Cache-Control', 'no-store')
    if (!ready) c.header('Retry-After', '1')
    return c.json(
      {
        status: ready ? 'ready' : 'unavailable',
        checks: { database, migrations },
        warnings: deps.warnings,
      },
      ready ? 200 : 503,
    )
  })
  if (!deps.metricsApart) app.route('/', metricsApp(deps.metrics))
}

/** Milliseconds for which the text of the metrics is cached, as it needs no key. */
const KEPT_MS = 1_000

/** `/metrics` in the Prometheus text format, at most a second old. */
export function metricsApp(metrics: HttpMetrics): Hono {
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

async function checkReady({
  db,
  migrationSets,
}: StatusDeps): Promise<{ database: string; migrations: string }> {
  try {
    await sql`select 1`.execute(db)
    const pending = await pendingMigrations(db, migrationSets)
    return {
      database: 'ok',
      migrations: pending.length === 0 ? 'ok' : `${pending.length} pending`,
    }
  } catch {
    return { database: 'unavailable', migrations: 'unknown' }
  }
}
