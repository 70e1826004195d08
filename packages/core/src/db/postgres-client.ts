import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { ClientBase } from 'pg'
import { isStale } from './frequent-statements.ts'
import type { FrequentStatements } from './frequent-statements.ts'
import { MARK } from './distributed.ts'
import { transactionSettings } from './portable.ts'

const BEGIN = /^(start transaction|begin)/
const END = /^(commit|rollback)$/
/** Without a transaction it changes nothing, so it may be sent before BEGIN was answered. */
const LOCK = /^select .* for update$/s

/** A write in a transaction that was begun as read-only says nothing about the server. */
const isReadOnly = (error: Error, begin: string): boolean =>
  (error as { code?: unknown }).code === READ_ONLY && !begin.endsWith('read only')

type Result = pg.QueryResult<pg.QueryResultRow>

/**
 * A client that closes its connection if PostgreSQL does not answer a query within `answerMs`,
 * because a late answer could be mistaken for another one. The query fails with `Query read
 * timeout`, all later ones immediately. A server that has become read-only loses the connection too:
 * the next one may lead to the new primary.
 *
 * With `frequent`, the frequent statements of transactions that write stay prepared: PostgreSQL
 * parses and plans them once. Other statements get a plan for their values, which reads of large tables
 * need.
 *
 * A statement that follows BEGIN without waiting for its answer is sent at once if it only locks rows;
 * any other one waits. If BEGIN fails, so do all statements up to ROLLBACK: none runs outside of the
 * transaction that it belongs to.
 *
 * The callback is passed together with the query, not with `query_timeout` or a promise of the
 * library: these attach it later and kept whole results in memory until the next full garbage
 * collection.
 */
export const clientClass = (
  answerMs: number,
  frequent: FrequentStatements | null = null,
): typeof pg.Client =>
  class extends pg.Client {
    /** The statement that began the last transaction. */
    #begin = ''
    /** The answer to BEGIN, until it has come; a failure, until the transaction ends. */
    #begun: Promise<Result> | null = null

    // One of many overloads: our queries and those of Kysely are a text or a submittable.
    override query(query: unknown, ...rest: unknown[]): never {
      const [values, callback] = rest
      if (typeof query !== 'string' || typeof values === 'function' || callback !== undefined)
        return super.query(query as string, ...(rest as [unknown[]])) as never
      return this.#ask(query, values as unknown[] | undefined) as never
    }

    #ask(text: string, values: unknown[] = []): Promise<Result> {
      if (BEGIN.test(text)) return this.#start(text)
      const begun = this.#begun
      if (text === 'rollback') this.#begun = null
      if (!begun) return this.#send(text, values)
      // Behind the statements that wait for BEGIN, which would otherwise run after the transaction.
      const end = () => this.#send(text, values)
      return text === 'rollback' ? begun.then(end, end) : this.#follow(begun, text, values)
    }

    #start(text: string): Promise<Result> {
      this.#begin = text
      const begun = this.#send(text, [])
      this.#begun = begun
      const answered = () => {
        if (this.#begun === begun) this.#begun = null
      }
      begun.then(answered, () => undefined)
      return begun
    }

    async #follow(begun: Promise<Result>, text: string, values: unknown[]): Promise<Result> {
      if (!LOCK.test(text)) return begun.then(() => this.#send(text, values))
      const [, result] = await Promise.all([begun, this.#send(text, values)])
      return result
    }

    #send(text: string, values: unknown[]): Promise<Result> {
      const name = this.#nameOf(text, values)
      if (END.test(text)) this.#begin = ''
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error('Query read timeout'))
          void this.end()
        }, answerMs)
        super.query(
          { text, values, ...(name && { name }) },
          (error: Error | null, result: Result) => {
            clearTimeout(timer)
            if (!error) return resolve(result)
            if (isStale(error)) frequent?.renew()
            reject(error)
            // Never sent: a COMMIT right behind it would commit the rest of the transaction.
            if (!(error instanceof pg.DatabaseError)) void this.end()
            if (isReadOnly(error, this.#begin)) void this.end()
          },
        )
      })
    }

    #nameOf(text: string, values: readonly unknown[]): string | undefined {
      const writes = this.#begin !== '' && !this.#begin.endsWith('read only')
      return writes && values.length > 0 ? frequent?.nameOf(text) : undefined
    }
  }

/** SQLSTATE `read_only_sql_transaction`. */
const READ_ONLY = '25006'

/** The server is a standby, or its default is read-only. Unavailable, as for a rejected write. */
class ReadOnlyServer extends Error {
  readonly code = READ_ONLY
  constructor() {
    super('PostgreSQL is read-only: the address leads to a standby or to a primary that was fenced')
  }
}

/**
 * Citus (to 13.2 at least) plans the statement for a shard again for each execution of a generic plan, and
 * keeps every one of these plans in memory until the connection ends.
 */
const CUSTOM_PLANS = "set_config('plan_cache_mode', 'force_custom_plan', false)"

/**
 * Sets the limits of a new session, and refuses a server that is read-only, as after a failover that
 * is not complete: a standby may lag, so a revoked key would still be valid there. Returns true if the
 * tables are distributed.
 */
export async function prepareSession(client: ClientBase, mayBeReadOnly: boolean): Promise<boolean> {
  const { rows } = await client.query<{ is_read_only: boolean; is_distributed: boolean }>(
    `select ${transactionSettings('session')},
      current_setting('transaction_read_only') = 'on' as is_read_only,
      to_regclass('${MARK}') is not null as is_distributed,
      case when to_regclass('${MARK}') is not null then ${CUSTOM_PLANS} end`,
  )
  if (rows[0]?.is_read_only && !mayBeReadOnly) throw new ReadOnlyServer()
  return rows[0]?.is_distributed === true
}

const CONNECTIONS = 4
const TIMEOUT_MS = 5_000

/**
 * Checks that a PostgreSQL session outlives a statement. Returns false behind a pooler in
 * transaction mode (PgBouncer `pool_mode=transaction`, the pooled ports of Neon and Supabase),
 * which gives every transaction another session, so session settings, `LISTEN` and session locks do
 * not work. Rejects if the database is unavailable.
 */
export async function hasPersistentSessions(url: string): Promise<boolean> {
  const clients = Array.from({ length: CONNECTIONS }, () => clientOf(url))
  try {
    await Promise.all(clients.map(({ client }) => client.connect()))
    for (const { client, mark } of clients)
      await client.query("select set_config('remit.session', $1, false)", [mark])
    // In reverse order: a pooler that hands out sessions in turn would otherwise give each client
    // its own.
    for (const { client, mark } of clients.toReversed()) {
      const { rows } = await client.query<{ mark: string | null }>(
        "select current_setting('remit.session', true) as mark",
      )
      if (rows[0]?.mark !== mark) return false
    }
    return true
  } finally {
    await Promise.allSettled(clients.map(({ client }) => client.end()))
  }
}

function clientOf(url: string) {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'remit-probe',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  })
  // Without a listener, a connection error between two queries would end the process.
  client.on('error', () => undefined)
  return { client, mark: randomUUID() }
}
