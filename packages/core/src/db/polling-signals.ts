import { setTimeout } from 'node:timers/promises'
import type { Database } from './open.ts'
import { eachPart, inPart } from './parts.ts'
import type { CoreTables } from './schema.ts'
import { localSignals } from './signals.ts'
import type { Signals } from './signals.ts'

export interface PollingSignalsOptions {
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
      await setTimeout(everyMs, undefined, { signal: over.signal, ref: false }).catch(
        () => undefined,
      )
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
