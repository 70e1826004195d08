import { PostgresDriver } from 'kysely'
import type { DatabaseConnection, TransactionSettings } from 'kysely'

/**
 * Begins a transaction without waiting for the answer: `clientClass` decides which statement may
 * follow at once, and fails the first one if BEGIN failed.
 */
export class EagerDriver extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    super.beginTransaction(connection, settings).catch(() => undefined)
  }
}
