import { PostgresDriver } from 'kysely'
import type { DatabaseConnection, TransactionSettings } from 'kysely'
import { dropLast, sendLast } from './last-statements.ts'

/**
 * Waits for fewer answers of PostgreSQL. BEGIN is not waited for: `clientClass` decides which statement
 * may follow at once, and fails all of them if BEGIN failed. COMMIT is sent together with the last
 * statements (`commitWith`).
 */
export class EagerDriver extends PostgresDriver {
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
