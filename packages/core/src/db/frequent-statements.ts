import { LRUCache } from 'lru-cache'
import type { CompiledQuery, DatabaseConnection } from 'kysely'
import type { AnyDatabase } from './portable.ts'

/** Statements that stay prepared; each connection keeps them. */
const MAX_PREPARED = 300
const MAX_COUNTED = 2_000
/** Preparing pays from the second use on, and single changes are never repeated. */
const USES = 3

/**
 * Names of prepared statements for the texts that a process executes often. The names of a text are
 * the same on every connection; a connection prepares a name that it sees for the first time.
 */
export class FrequentStatements {
  readonly #uses = new LRUCache<string, number>({ max: MAX_COUNTED })
  readonly #names = new Map<string, string>()
  #generation = 0

  /** Returns the name of a statement, or undefined if it is not frequent. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text)
    if (known !== undefined || this.#names.size >= MAX_PREPARED) return known
    const uses = (this.#uses.get(text) ?? 0) + 1
    this.#uses.set(text, uses)
    if (uses < USES) return undefined
    const name = `remit_${this.#generation}_${this.#names.size}`
    this.#names.set(text, name)
    this.#uses.delete(text)
    return name
  }

  /** Gives new names from now on: a migration changed the columns of a prepared statement. */
  renew(): void {
    this.#generation += 1
    this.#names.clear()
  }
}

/**
 * Returns true if a migration changed the columns of a prepared statement. The routine is compared,
 * as the code is that of other errors too, and the message may be translated.
 */
export function isStale(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

const waiting = new WeakMap<DatabaseConnection, readonly CompiledQuery[]>()

/**
 * Leaves the last statements of a transaction to its COMMIT, which `EagerDriver` sends together with
 * them. Whatever they return is ignored; if one fails, PostgreSQL rolls the transaction back.
 */
export const commitWith = (tx: AnyDatabase, queries: readonly CompiledQuery[]): Promise<void> =>
  tx.getExecutor().provideConnection(async (connection) => {
    if (waiting.has(connection)) throw new Error('the transaction already has its last statements')
    waiting.set(connection, queries)
  })

/** Sends the last statements of the transaction on a connection, once. */
export function sendLast(connection: DatabaseConnection): Promise<unknown>[] {
  const last = waiting.get(connection)
  waiting.delete(connection)
  return last?.map((query) => connection.executeQuery(query)) ?? []
}

export const dropLast = (connection: DatabaseConnection): void => void waiting.delete(connection)
