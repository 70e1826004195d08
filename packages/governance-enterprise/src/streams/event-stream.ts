import type { LedgerEntryRow } from '@remit/core/db'
import type { Deps } from '@remit/core/module'

/** Milliseconds until a heartbeat on a quiet stream. */
const QUIET_MS = 15_000

/** A client of an event stream. */
export interface Subscription {
  readonly orgId: string
  /** The last sequence number of the client. */
  readonly after: number
  /** The client disconnected, or the server is shutting down. */
  readonly over: AbortSignal
  /** Throws when the key or session of the client has ended. */
  readonly recheck: () => Promise<void>
  readonly onEnd: () => void
}

/** New events of a stream. */
export interface Piece {
  readonly events: readonly string[]
  /** The last sequence number that was examined. */
  readonly last: number
  /** True if further events exist already. */
  readonly hasMore: boolean
}

/** The source of the events of one stream. */
export interface EventSource {
  /** Rejects if `over` aborts before its turn. */
  read(after: number, over: AbortSignal): Promise<Piece>
  /** Resolves when further events may exist, and after some seconds in any case. */
  wait(over: AbortSignal): Promise<void>
  close(): void
}

/** Returns the bytes of a stream of server-sent events; an event's id is its sequence number. */
export function eventStream(
  { log }: Pick<Deps, 'log'>,
  source: EventSource,
  subscription: Subscription,
): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  const over = AbortSignal.any([subscription.over, gone.signal])
  const events = readEvents(source, subscription, over)
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      try {
        const next = await events.next()
        if (gone.signal.aborted) return
        if (next.done !== true) return controller.enqueue(encoder.encode(next.value))
      } catch (error) {
        if (gone.signal.aborted) return
        // The client reconnects with its last event id.
        if (!over.aborted) log.warn({ err: error }, 'reading an event stream failed')
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
  source: EventSource,
  { after, recheck }: Subscription,
  over: AbortSignal,
): AsyncGenerator<string> {
  try {
    yield 'retry: 2000\n\n'
    let from = after
    let spoke = performance.now()
    while (!over.aborted) {
      const { events, last, hasMore } = await source.read(from, over)
      const isQuiet = performance.now() - spoke >= QUIET_MS
      if (events.length > 0 || isQuiet) {
        if (!(await isAdmitted(recheck))) return
        spoke = performance.now()
        if (isQuiet) yield ': still here\n\n'
      }
      for (const event of events) yield event
      from = last
      if (!hasMore) await source.wait(over)
    }
  } finally {
    source.close()
  }
}

const isAdmitted = (recheck: () => Promise<void>): Promise<boolean> =>
  recheck().then(
    () => true,
    () => false,
  )

/** Returns an entry as an event. JSON contains no line breaks, so one `data` line suffices. */
export const eventOf = (
  { seq, kind }: Pick<LedgerEntryRow, 'seq' | 'kind'>,
  data: object,
): string => `id: ${seq}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
