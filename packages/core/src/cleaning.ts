import type { Logger } from 'pino'
import type { Clock } from './base/clock.ts'
import type { Database } from './db/open.ts'
import type { CoreTables } from './db/schema.ts'
import { forgetAnswers } from './idempotency/store.ts'
import { forgetSessions } from './sessions/store.ts'

const HOUR_MS = 60 * 60 * 1000

/** Deletes what has expired, once an hour. The returned function ends it. */
export function startCleaning(db: Database<CoreTables>, clock: Clock, log: Logger): () => void {
  const timer = setInterval(() => {
    forgetAnswers(db, clock.now()).catch((error: unknown) =>
      log.warn({ err: error }, 'deleting expired idempotency keys failed'),
    )
    forgetSessions(db, clock.now()).catch((error: unknown) =>
      log.warn({ err: error }, 'deleting ended sessions failed'),
    )
  }, HOUR_MS).unref()
  return () => clearInterval(timer)
}
