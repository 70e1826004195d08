import type { CompiledQuery, DatabaseConnection } from 'kysely'
import type { AnyDatabase } from './portable.ts'

const waiting = new WeakMap<DatabaseConnection, readonly CompiledQuery[]>()

/**
 * Leaves the last statements of a transaction to its COMMIT, which `EagerDriver` sends together with
 * them. Whatever they return is ignored; if one fails, PostgreSQL rolls the transaction back.
 */
export const commitWith = (tx: AnyDatabase, last: readonly CompiledQuery[]): Promise<void> =>
  tx.getExecutor().provideConnection(async (connection) => void waiting.set(connection, last))

/** Returns the last statements of the transaction on a connection, once. */
export function takeLast(connection: DatabaseConnection): readonly CompiledQuery[] {
  const last = waiting.get(connection) ?? []
  waiting.delete(connection)
  return last
}
