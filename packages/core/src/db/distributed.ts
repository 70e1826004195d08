import { CompiledQuery, PostgresAdapter, PostgresDialect, PostgresDriver } from 'kysely'
import type { PostgresDialectConfig, DatabaseConnection, TransactionSettings } from 'kysely'
import type { AnyDatabase } from './portable.ts'
import { dropLast, sendLast } from './frequent-statements.ts'

/**
 * The placement of a table on a Citus cluster. All rows of an organization are on one node: its
 * tables are distributed by the column with the id of the organization. Keys and credentials are
 * read before the organization is known, so their ids are also in the directory. A `local` table is
 * on the coordinator alone. No table is a reference table: while one node is down, nobody can write
 * to those.
 */
export type Placement = 'by org_id' | 'by org_id, ids in the directory' | 'by id' | 'local'

/** The placement of each of these tables. */
export type Placements<Tables = Record<string, unknown>> = {
  readonly [Name in keyof Tables & string]: Placement
}

/** The table of `directory.ts`, which exists on distributed databases only. */
export const MARK = 'directory_key'

/** PostgreSQL that knows from its newest connection if the tables are distributed. */
export class ClusterAdapter extends PostgresAdapter {
  /** Null until the first connection. */
  isDistributed: boolean | null = null
}

/** The dialect of a database with this adapter. */
export class ClusterDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig
  readonly #adapter: ClusterAdapter

  constructor(config: PostgresDialectConfig, adapter: ClusterAdapter) {
    super(config)
    this.#config = config
    this.#adapter = adapter
  }

  override createAdapter() {
    return this.#adapter
  }

  override createDriver() {
    return new EagerDriver(this.#config)
  }
}

/** Returns true if `remit distribute` has spread the tables over the nodes of a Citus cluster. */
export async function isDistributed(db: AnyDatabase): Promise<boolean> {
  const { adapter } = db.getExecutor()
  if (!(adapter instanceof ClusterAdapter)) return false
  // A first connection looks.
  if (adapter.isDistributed === null) await db.executeQuery(CompiledQuery.raw('select 1'))
  return adapter.isDistributed === true
}

/** Notes that the tables have been distributed just now, by this process. */
export function noteDistributed(db: AnyDatabase): void {
  const { adapter } = db.getExecutor()
  if (adapter instanceof ClusterAdapter) adapter.isDistributed = true
}

/**
 * Waits for fewer answers of PostgreSQL. BEGIN is not waited for: `clientClass` decides which statement
 * may follow at once, and fails all of them if BEGIN failed. COMMIT is sent together with the last
 * statements (`commitWith`).
 */
class EagerDriver extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    super.beginTransaction(connection, settings).catch(() => undefined)
  }

  /** Rejects with the error of the first statement that failed: COMMIT was a ROLLBACK then. */
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const sent = sendLast(connection)
    const answers = await Promise.allSettled([...sent, super.commitTransaction(connection)])
    const failed = answers.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  override rollbackTransaction(
    connection: Parameters<PostgresDriver['rollbackTransaction']>[0],
  ): Promise<void> {
    dropLast(connection)
    return super.rollbackTransaction(connection)
  }
}
