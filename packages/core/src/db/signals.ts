import { parseJson } from '@remit/contract/json'
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { isDistributed } from './distributed.ts'
import { dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'
import type { Database } from './open.ts'
import { eachPart, inPart } from './parts.ts'
import type { CoreTables } from './schema.ts'

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

interface PollingSignalsOptions {
  /** Called when reading the database fails; once until it succeeds again. */
  readonly onError: (error: Error) => void
  /** Milliseconds between polls. */
  readonly everyMs?: number
}

const EVERY_MS = 1_000

/**
 * Signals for a PostgreSQL on which `LISTEN` does not work: polls for ledgers that have grown.
 * Every signal comes with an entry, so all topics of those organizations are notified. The first
 * subscription starts the polling.
 */
export function pollingSignals(
  db: Database<CoreTables>,
  { onError, everyMs = EVERY_MS }: PollingSignalsOptions,
): Signals {
  const local = localSignals()
  const topics = new Set<string>()
  const over = new AbortController()
  let polling: Promise<void> | null = null
  const tell = (orgId: string) => {
    for (const topic of topics) local.emit({ topic, orgId })
  }
  const poll = async () => {
    let known: ReadonlyMap<string, number> | null = null
    let isFailing = false
    while (!over.signal.aborted) {
      try {
        const sizes: ReadonlyMap<string, number> = await readSizes(db)
        for (const [orgId, size] of sizes) if (known && known.get(orgId) !== size) tell(orgId)
        known = sizes
        isFailing = false
      } catch (error) {
        if (!isFailing) onError(error instanceof Error ? error : new Error(String(error)))
        isFailing = true
      }
      await sleep(everyMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined)
    }
  }
  return {
    subscribe(topic, listener) {
      topics.add(topic)
      polling ??= poll()
      return local.subscribe(topic, listener)
    },
    emit: (signal) => local.emit(signal),
    async close() {
      over.abort()
      await polling
      await local.close()
    },
  }
}

/** Without the organizations that are unavailable: they have grown when they are back. */
async function readSizes(db: Database<CoreTables>): Promise<Map<string, number>> {
  const parts = await eachPart(
    db,
    (part) => db.selectFrom('ledger_head').select(['org_id', 'size']).where(inPart(part)).execute(),
    () => undefined,
  )
  return new Map(parts.flat().map(({ org_id, size }) => [org_id, size]))
}

interface PostgresSignalsOptions {
  /** Called when the connection fails; it is retried. */
  readonly onError: (error: Error) => void
  /**
   * Sends the signals of this process too, after their commit: on a distributed database, where
   * transactions run on another node than the one that all processes listen on.
   */
  readonly sends?: boolean
}

const NOTIFY = 'select pg_notify($1, $2)'
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000

/**
 * Signals of all processes on one PostgreSQL: a dedicated connection listens on the channel. While
 * it is down, signals are lost, so waiting code must also poll.
 */
export function postgresSignals(
  url: string,
  { onError, sends = false }: PostgresSignalsOptions,
): Signals {
  const local = localSignals()
  const over = new AbortController()
  let sender: pg.Client | null = null
  const listening = listen(url, local, onError, over.signal, (client) => (sender = client))
  return {
    subscribe: (topic, listener) => local.subscribe(topic, listener),
    emit(signal) {
      local.emit(signal)
      // A signal may be lost: others poll.
      if (sends) sender?.query(NOTIFY, [CHANNEL, JSON.stringify(signal)]).catch(() => undefined)
    },
    async close() {
      over.abort()
      await listening
      await local.close()
    },
  }
}

async function listen(
  url: string,
  local: Signals,
  onError: (error: Error) => void,
  over: AbortSignal,
  onClient: (client: pg.Client | null) => void,
): Promise<void> {
  let waitMs = FIRST_WAIT_MS
  while (!over.aborted) {
    try {
      await listenOnce(url, local, over, (client) => {
        waitMs = FIRST_WAIT_MS
        onClient(client)
      })
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)))
    }
    onClient(null)
    await pause(waitMs, over)
    waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)
  }
}

/** Listens until it is stopped; throws if the connection fails. */
async function listenOnce(
  url: string,
  local: Signals,
  over: AbortSignal,
  onListening: (client: pg.Client) => void,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'remit-signals',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // Nothing is sent here: a network that was lost shows in no other way.
    keepAliveInitialDelayMillis: 10_000,
  })
  const broken = Promise.withResolvers<void>()
  // Without a listener, a connection error between two queries would end the process.
  client.on('error', broken.reject)
  client.on('end', () => broken.reject(new Error('the LISTEN connection was closed')))
  client.on('notification', ({ payload }) => {
    const signal = parse(payload)
    if (signal) local.emit(signal)
  })
  const stop = () => broken.resolve()
  over.addEventListener('abort', stop)
  try {
    await Promise.race([
      client.connect().then(() => client.query(`listen ${CHANNEL}`)),
      broken.promise,
    ])
    onListening(client)
    await broken.promise
  } finally {
    over.removeEventListener('abort', stop)
    // Further errors are irrelevant: the connection is being closed.
    broken.promise.catch(() => undefined)
    await client.end().catch(() => undefined)
  }
}

/** Parses a signal of `notifyOthers`; every user of the database can write to the channel. */
function parse(payload: string | undefined): Signal | null {
  const { topic, orgId } = (parseJson(payload ?? '') ?? {}) as Partial<Record<string, unknown>>
  return typeof topic === 'string' && typeof orgId === 'string' ? { topic, orgId } : null
}

function pause(ms: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (over.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      over.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms).unref()
    over.addEventListener('abort', done)
  })
}
