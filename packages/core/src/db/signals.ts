import { EventEmitter } from 'node:events'
import { sql } from 'kysely'
import { dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/** The channel of PostgreSQL on which all processes of an installation listen. */
export const CHANNEL = 'remit'

/** Something happened in an organization that others may be waiting for; they read what it was. */
export interface Signal {
  readonly topic: string
  readonly orgId: string
}

/**
 * Tells who waits, in this process and in the others of the installation, that it is worth looking
 * again. A signal may come twice and, while a connection is down, not at all: never decide by it.
 */
export interface Signals {
  /** Calls `listener` for every signal of the topic, until the returned function is called. */
  subscribe(topic: string, listener: (orgId: string) => void): () => void
  /** To this process only; a transaction has told the others when it commits. */
  emit(signal: Signal): void
  close(): Promise<void>
}

/** Signals inside one process: all that SQLite needs. */
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

/** Lets the other processes hear of topics when the transaction commits; SQLite has none. */
export async function notifyOthers(
  tx: AnyDatabase,
  orgId: string,
  topics: ReadonlySet<string>,
): Promise<void> {
  if (topics.size === 0 || dialectOf(tx) === 'sqlite') return
  for (const topic of topics) {
    await sql`select pg_notify(${CHANNEL}, ${JSON.stringify({ topic, orgId })})`.execute(tx)
  }
}
