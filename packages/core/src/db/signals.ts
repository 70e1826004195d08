import { EventEmitter } from 'node:events'
import { sql } from 'kysely'
import { isDistributed } from './distributed.ts'
import { dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/** The PostgreSQL channel of all processes of an installation. */
export const CHANNEL = 'remit'

/** A change in an organization; listeners read the change from the database. */
export interface Signal {
  readonly topic: string
  readonly orgId: string
}

/**
 * Notifies waiting code, in this process and in the others of the installation, that new data may
 * exist. A signal can be repeated or lost: never base a decision on it.
 */
export interface Signals {
  /** Calls `listener` for every signal of the topic, until the returned function is called. */
  subscribe(topic: string, listener: (orgId: string) => void): () => void
  /** Notifies this process only; `notifyOthers` notifies the others when a transaction commits. */
  emit(signal: Signal): void
  close(): Promise<void>
}

/** Signals inside one process, which is sufficient for SQLite. */
export function localSignals(): Signals {
  const emitter = new EventEmitter().setMaxListeners(0)
  return {
    subscribe(topic, listener) {
      emitter.on(topic, listener)
      return () => emitter.off(topic, listener)
    },
    emit: ({ topic, orgId }) => void emitter.emit(topic, orgId),
    close: () => Promise.resolve(void emitter.removeAllListeners()),
  }
}

/**
 * Notifies the other processes when the transaction commits. Without effect on SQLite, which has
 * none, and on a distributed database, whose node may not be the one where the others listen.
 */
export async function notifyOthers(
  tx: AnyDatabase,
  orgId: string,
  topics: ReadonlySet<string>,
): Promise<void> {
  if (dialectOf(tx) === 'sqlite' || (await isDistributed(tx))) return
  for (const topic of topics) {
    await sql`select pg_notify(${CHANNEL}, ${JSON.stringify({ topic, orgId })})`.execute(tx)
  }
}
