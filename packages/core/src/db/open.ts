import type { CoreTables } from './schema.ts'
import { closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { callbackify } from 'node:util'
import SqliteDatabase from 'better-sqlite3'
import { CompiledQuery, Kysely, SqliteAdapter, SqliteDialect, SqliteDriver } from 'kysely'
import type { DatabaseConnection } from 'kysely'
import { LRUCache } from 'lru-cache'
import pg from 'pg'
import { makeFolder } from '../base/files.ts'
import { ClusterAdapter, ClusterDialect } from './distributed.ts'
import { FrequentStatements } from './frequent-statements.ts'
import { clientClass, prepareSession } from './postgres-client.ts'

/** A database, or an open transaction. Stores take one as their first argument. */
export type Database<Tables> = Kysely<Tables>

/** A database with the tables of the core. */
export type Db = Database<CoreTables>

export interface OpenOptions {
  /** Called when an idle PostgreSQL connection fails. */
  readonly onConnectionError?: (error: Error) => void
  /** Name of the connections for PostgreSQL. Default: `remit`, as servers have it. */
  readonly applicationName?: string
  /** Maximum number of PostgreSQL connections. */
  readonly poolSize?: number
  /** Milliseconds to wait for a connection of the pool, or for a new one. Default: 2,000. */
  readonly connectMs?: number
  /** Milliseconds to wait for the result of a query; then its connection is closed. */
  readonly answerMs?: number
  /**
   * Each connection has a session of its own (`hasPersistentSessions`): the frequent statements of
   * transactions that write stay prepared.
   */
  readonly hasSessions?: boolean
  /** Opens SQLite read-only, and accepts a PostgreSQL server that is read-only. */
  readonly readonly?: boolean
}

/**
 * Opens `sqlite:<path>` (`sqlite::memory:` too) or `postgres://…`. Commits are durable on both:
 * SQLite runs with `synchronous=FULL`, PostgreSQL with `synchronous_commit` on or stricter. Behind a
 * pooler in transaction mode, that holds only in transactions that call `lockHead` or `makeDurable`.
 */
export function openDatabase<Tables>(url: string, options: OpenOptions = {}): Database<Tables> {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length), options)
  return openPostgres(url, options)
}

function openSqlite<Tables>(path: string, options: OpenOptions): Database<Tables> {
  if (path !== ':memory:') {
    // SQLite waits for the other end of a named pipe.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
      throw new Error(`${path} is not a regular file`)
    if (!options.readonly) makePrivate(path)
  }
  const file = new SqliteDatabase(path, { readonly: options.readonly ?? false, timeout: 5000 })
  if (!options.readonly) file.pragma('journal_mode = WAL')
  // better-sqlite3 is compiled to run WAL databases with NORMAL, which loses acknowledged commits
  // on power loss.
  file.pragma('synchronous = FULL')
  if (file.pragma('synchronous', { simple: true }) !== 2)
    throw new Error('SQLite did not accept synchronous=FULL')
  // On macOS only F_FULLFSYNC reaches the disk.
  file.pragma('fullfsync = 1')
  // Frequently written pages are checkpointed once in 16 MiB instead of once in 4.
  file.pragma('wal_autocheckpoint = 4000')
  file.pragma('foreign_keys = ON')
  return new Kysely<Tables>({
    dialect: new ImmediateSqliteDialect({ database: cachingStatements(file) }),
  })
}

/** Contexts of decisions are confidential; SQLite gives its log the same mode. */
function makePrivate(path: string): void {
  makeFolder(dirname(path), 0o700)
  closeSync(openSync(path, 'a', 0o600))
}

/**
 * Transactions take the write lock immediately, so that a second process waits instead of failing
 * later.
 */
class ImmediateSqliteDialect extends SqliteDialect {
  readonly #config: ConstructorParameters<typeof SqliteDialect>[0]
  constructor(config: ConstructorParameters<typeof SqliteDialect>[0]) {
    super(config)
    this.#config = config
  }
  override createDriver() {
    return new ImmediateSqliteDriver(this.#config)
  }
  override createAdapter() {
    return new AtomicSqliteAdapter()
  }
}

/** SQLite rolls back `create table` too: a failed migration leaves nothing behind. */
class AtomicSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }
}

const MAX_STATEMENTS = 500

/**
 * Caches prepared statements by their text; preparing costs more than most statements take to run.
 */
function cachingStatements(file: SqliteDatabase.Database) {
  const statements = new LRUCache<string, SqliteDatabase.Statement>({ max: MAX_STATEMENTS })
  return {
    close: () => file.close(),
    prepare(sql: string) {
      const known = statements.get(sql)
      if (known) return known
      const statement = file.prepare(sql)
      statements.set(sql, statement)
      return statement
    },
  }
}

// Every bigint in our tables is a count or micro-USD below 2^53.
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Above PostgreSQL's own limits (`transactionSettings`), which apply first. */
const ANSWER_MS = 10_000

function openPostgres<Tables>(url: string, options: OpenOptions): Database<Tables> {
  const adapter = new ClusterAdapter()
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.connectMs ?? 2_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    Client: clientClass(
      options.answerMs ?? ANSWER_MS,
      options.hasSessions ? new FrequentStatements() : null,
    ),
    application_name: options.applicationName ?? 'remit',
    // Statements that do not need each other's answers are sent together.
    pipeline: true,
    types,
    // Not a hook of Kysely: a connection that it refuses would stay in the pool, out of reach.
    verify: callbackify(async (client: pg.PoolClient) => {
      adapter.isDistributed = await prepareSession(client, options.readonly ?? false)
    }),
  })
  // Without listeners, an error of a connection in use would end the process: the pool listens to
  // idle connections only.
  const onError = (error: Error) => options.onConnectionError?.(error)
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
  return new Kysely<Tables>({ dialect: new ClusterDialect({ pool }, adapter) })
}
