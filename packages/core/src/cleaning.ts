import type { Logger } from 'pino'
import type { Clock } from './base/clock.ts'
import type { Database } from './db/open.ts'
import { eachPart } from './db/parts.ts'
import type { Part } from './db/parts.ts'
import type { CoreTables } from './db/schema.ts'
import { forgetAnswers } from './idempotency/store.ts'
import { forgetSessions } from './sessions/store.ts'

const HOUR_MS = 60 * 60 * 1000

/** Deletes what has expired, once an hour. The returned function ends it. */
export function startCleaning(db: Database<CoreTables>, clock: Clock, log: Logger): () => void {
  const failed = (error: unknown, organizations?: readonly string[]) =>
    log.warn({ err: error, organizations }, 'deleting expired idempotency keys and sessions failed')
  const clean = async (part: Part) => {
    await forgetAnswers(db, part, clock.now())
    await forgetSessions(db, part, clock.now())
  }
  const timer = setInterval(() => void eachPart(db, clean, failed).catch(failed), HOUR_MS).unref()
  return () => clearInterval(timer)
}
