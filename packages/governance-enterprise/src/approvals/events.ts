import { on, wireEntry } from '@remit/core'
import type { CoreTables, Deps, LedgerEntryRow } from '@remit/core'
import { sql } from 'kysely'
import { TOPIC } from './topic.ts'

type EventDeps = Pick<Deps, 'db' | 'signals' | 'log'>

/** Milliseconds between two polls without a signal, and until a heartbeat on a quiet stream. */
const LOOK_MS = 5_000
const QUIET_MS = 15_000
const PIECE = 100

export interface Subscription {
  readonly orgId: string
  /** The last sequence number of the client. */
  readonly after: number
  /** The client disconnected, or the server is shutting down. */
  readonly over: AbortSignal
  /** Throws when the key of the client has ended. */
  readonly recheck: () => Promise<void>
  readonly onEnd: () => void
}

/** The organization's `approval.*` entries as server-sent events; an event's id is its sequence number. */
export function eventStream(
  deps: EventDeps,
  subscription: Subscription,
): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  const over = AbortSignal.any([subscription.over, gone.signal])
  const events = readEvents(deps, subscription, over)
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      try {
        const next = await events.next()
        if (next.done !== true) return controller.enqueue(encoder.encode(next.value))
      } catch (error) {
        // The client reconnects with its last event id.
        deps.log.warn({ err: error }, 'reading the approval event stream failed')
      }
      subscription.onEnd()
      controller.close()
    },
    cancel() {
      gone.abort()
      void events.return(undefined)
      subscription.onEnd()
    },
  })
}

async function* readEvents(
  { db, signals }: EventDeps,
  { orgId, after, recheck }: Subscription,
  over: AbortSignal,
): AsyncGenerator<string> {
  const bell = new Bell()
  const stop = signals.subscribe(TOPIC, (org) => {
    if (org === orgId) bell.ring()
  })
  try {
    yield 'retry: 2000\n\n'
    let last = after
    let spoke = performance.now()
    while (!over.aborted) {
      const rows = await readEntries(db, orgId, last)
      const isQuiet = performance.now() - spoke >= QUIET_MS
      if (rows.length > 0 || isQuiet) {
        if (!(await isAdmitted(recheck))) return
        spoke = performance.now()
        if (isQuiet) yield ': still here\n\n'
      }
      for (const row of rows) yield eventOf(row)
      last = rows.at(-1)?.seq ?? last
      if (rows.length < PIECE) await bell.wait(LOOK_MS, over)
    }
  } finally {
    stop()
  }
}

const isAdmitted = (recheck: () => Promise<void>): Promise<boolean> =>
  recheck().then(
    () => true,
    () => false,
  )

/** The condition on the kind must equal that of the index `ledger_entry_approvals`. */
const readEntries = (db: Deps['db'], orgId: string, after: number): Promise<LedgerEntryRow[]> =>
  on<CoreTables>(db)
    .selectFrom('ledger_entry')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('seq', '>', after)
    .where(sql<boolean>`kind >= 'approval.' and kind < 'approval/'`)
    .orderBy('seq')
    .limit(PIECE)
    .execute()

// JSON contains no line breaks, so one `data` line suffices.
const eventOf = (row: LedgerEntryRow): string =>
  `id: ${row.seq}\nevent: ${row.kind}\ndata: ${JSON.stringify(wireEntry(row))}\n\n`

/** A wake-up signal; it stays set until the next wait. */
class Bell {
  #isRung = false
  #wake: (() => void) | null = null

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  wait(ms: number, over: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        over.removeEventListener('abort', done)
        this.#wake = null
        this.#isRung = false
        resolve()
      }
      const timer = setTimeout(done, ms).unref()
      over.addEventListener('abort', done)
      this.#wake = done
      if (this.#isRung || over.aborted) done()
    })
  }
}
