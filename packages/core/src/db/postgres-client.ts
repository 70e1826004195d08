import pg from 'pg'
import { isStale } from './frequent-statements.ts'
import type { FrequentStatements } from './frequent-statements.ts'
import { READ_ONLY } from './postgres-session.ts'

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
