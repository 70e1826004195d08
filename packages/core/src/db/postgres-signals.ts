import pg from 'pg'
import { CHANNEL, localSignals } from './signals.ts'
import type { Signal, Signals } from './signals.ts'

export interface PostgresSignalsOptions {
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
  try {
    const { topic, orgId } = JSON.parse(payload ?? '') as Partial<Record<string, unknown>>
    return typeof topic === 'string' && typeof orgId === 'string' ? { topic, orgId } : null
  } catch {
    return null
  }
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
