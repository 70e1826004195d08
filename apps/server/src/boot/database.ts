import {
  hasPersistentSessions,
  localSignals,
  migrate,
  NearNodes,
  openDatabase,
  pendingMigrations,
  pollingSignals,
  postgresSignals,
} from '@remit/core/db/open'
import type { Database, MigrationSet, Signals } from '@remit/core/db/open'
import { isDistributed } from '@remit/core/db'
import type { CoreTables } from '@remit/core/db'
import type { Logger } from 'pino'
import { ConfigError, isPostgres } from '../settings/environment.ts'
import type { Config } from '../settings/config.ts'

/** The database, and the parts that need a session of their own. */
export interface Storage {
  readonly db: Database<CoreTables>
  /** Connections for the transactions that write ledgers, on PostgreSQL. */
  readonly ledgerDb?: Database<CoreTables>
  readonly signals: Signals
  /** With `REMIT_DATABASE_NODES`. */
  readonly nodes?: NearNodes
  /** Runs pending migrations; throws `ConfigError` if they cannot run with these settings. */
  readonly migrate: (sets: readonly MigrationSet[]) => Promise<string[]>
  /** False behind a pooler in transaction mode without `REMIT_DATABASE_DIRECT_URL`. */
  readonly mayMigrate: boolean
}

/** Closes all connections: of a command, or of a server that could not start. */
export async function closeStorage({ db, ledgerDb, nodes, signals }: Storage): Promise<void> {
  await signals.close()
  await Promise.all([nodes?.close(), ledgerDb?.destroy(), db.destroy()])
}

type Settings = Pick<
  Config,
  'REMIT_DATABASE_URL' | 'REMIT_DATABASE_DIRECT_URL' | 'REMIT_DATABASE_NODES'
>

/**
 * Opens the database. Migrations hold a session lock and `LISTEN` needs a session, so both use
 * `REMIT_DATABASE_DIRECT_URL` if it is set. Without it, behind a pooler in transaction mode, the
 * process polls and does not migrate. Throws `ConfigError` for an unsuitable direct URL.
 */
export async function openStorage(config: Settings, log: Logger): Promise<Storage> {
  const { REMIT_DATABASE_URL: url, REMIT_DATABASE_DIRECT_URL: direct } = config
  if (!isPostgres(url)) {
    // SQLite has a single process, so there is nothing to notify.
    const db = openDatabase<CoreTables>(url)
    return { db, signals: localSignals(), migrate: migrator(db), mayMigrate: true }
  }
  if (direct !== undefined && !(await hasPersistentSessions(direct)))
    throw new ConfigError(NOT_DIRECT)
  const isPooled = !(await hasPersistentSessions(url))
  const open = (to: string, isDirect: boolean) =>
    openDatabase<CoreTables>(to, {
      hasSessions: isDirect,
      onConnectionError: (error) => log.warn({ err: error }, 'idle database connection failed'),
    })
  const db = open(url, !isPooled)
  const parts = {
    db,
    ledgerDb: open(url, !isPooled),
    ...(config.REMIT_DATABASE_NODES && { nodes: nearNodes(db, url, open, log) }),
  }
  if (direct === undefined && isPooled) {
    log.warn(POOLED)
    const onError = (error: Error) => log.warn({ err: error }, 'polling for signals failed')
    const signals = pollingSignals(db, { onError })
    return { ...parts, signals, migrate: refuser(db), mayMigrate: false }
  }
  if (isPooled) log.info(POOLED_WITH_DIRECT)
  const signals = postgresSignals(direct ?? url, {
    sends: await isDistributed(db),
    onError: (error) => log.warn({ err: error }, 'LISTEN connection failed'),
  })
  return {
    ...parts,
    signals,
    migrate: direct === undefined ? migrator(db) : migratorAt(() => open(direct, true)),
    mayMigrate: true,
  }
}

/** Connections to the nodes of a cluster, with the role, password and database of a URL. */
export function nearNodes(
  db: Database<CoreTables>,
  url: string,
  open: (url: string, isDirect: boolean) => Database<CoreTables>,
  log: Logger,
): NearNodes {
  return new NearNodes(db, {
    async open({ host, port }) {
      const at = new URL(url)
      at.hostname = host.includes(':') ? `[${host}]` : host
      at.port = String(port)
      return open(at.href, await hasPersistentSessions(at.href))
    },
    onError: (error) =>
      log.warn({ err: error }, 'decisions do not use the node that has their organization'),
  })
}

const migrator =
  (db: Database<CoreTables>): Storage['migrate'] =>
  async (sets) => {
    try {
      return await migrate(db, sets)
    } catch (error) {
      if (isForbidden(error)) throw new ConfigError(NOT_OWNER)
      throw error
    }
  }

/** PostgreSQL: `insufficient_privilege`. */
const isForbidden = (error: unknown): boolean =>
  error instanceof Error && (error.cause as { code?: unknown } | undefined)?.code === '42501'

const migratorAt =
  (open: () => Database<CoreTables>): Storage['migrate'] =>
  async (sets) => {
    const db = open()
    try {
      return await migrator(db)(sets)
    } finally {
      await db.destroy()
    }
  }

/** The check needs no session: a start without pending migrations continues. */
const refuser =
  (db: Database<CoreTables>): Storage['migrate'] =>
  async (sets) => {
    const pending = await pendingMigrations(db, sets)
    if (pending.length > 0) throw new ConfigError(NEEDS_DIRECT)
    return []
  }

/** The error of a migration through a pooler in transaction mode. */
export const NEEDS_DIRECT =
  'REMIT_DATABASE_DIRECT_URL must be set for migrations: REMIT_DATABASE_URL connects through a pooler in transaction mode, which does not support the migration lock'

const NOT_OWNER =
  'Migrations are pending, and the database role must not change tables: run `remit migrate` with the role that owns the tables, and start servers with REMIT_MIGRATE=check'

const NOT_DIRECT =
  'REMIT_DATABASE_DIRECT_URL must connect to PostgreSQL directly: it connects through a pooler in transaction mode'

const POOLED =
  'REMIT_DATABASE_URL connects through a pooler in transaction mode: LISTEN does not work, so the database is polled once a second for changes, and migrations are refused; set REMIT_DATABASE_DIRECT_URL'

const POOLED_WITH_DIRECT =
  'REMIT_DATABASE_URL connects through a pooler in transaction mode: LISTEN and migrations use REMIT_DATABASE_DIRECT_URL'
