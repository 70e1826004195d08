import type { CompiledQuery, DatabaseConnection } from 'kysely'
import type { AnyDatabase } from './portable.ts'

interface Last {
  readonly queries: readonly CompiledQuery[]
  /** The connection of the statements, which may change their texts. */
  readonly on: DatabaseConnection
}

const waiting = new WeakMap<DatabaseConnection, Last>()
const wrapped = new WeakMap<DatabaseConnection, DatabaseConnection>()

/** Returns a connection that passes statements on to `own`, and ends its transactions there. */
export function wrapConnection(
  own: DatabaseConnection,
  wrapper: DatabaseConnection,
): DatabaseConnection {
  wrapped.set(wrapper, own)
  return wrapper
}

/**
 * Leaves the last statements of a transaction to its COMMIT, which `EagerDriver` sends together with
 * them. Whatever they return is ignored; if one fails, PostgreSQL rolls the transaction back.
 */
export const commitWith = (tx: AnyDatabase, queries: readonly CompiledQuery[]): Promise<void> =>
  tx.getExecutor().provideConnection(async (on) => {
    const own = wrapped.get(on) ?? on
    if (waiting.has(own)) throw new Error('the transaction already has its last statements')
    waiting.set(own, { queries, on })
  })

/** Sends the last statements of the transaction on a connection, once. */
export function sendLast(connection: DatabaseConnection): Promise<unknown>[] {
  const last = waiting.get(connection)
  waiting.delete(connection)
  return last?.queries.map((query) => last.on.executeQuery(query)) ?? []
}

/** Forgets them. */
export const dropLast = (connection: DatabaseConnection): void => void waiting.delete(connection)
