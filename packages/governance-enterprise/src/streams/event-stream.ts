import type { LedgerEntryRow } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { invalid, fail } from '@remit/core/base'
import type { ApiRequest } from '@remit/core/http'
import type { Caller } from '@remit/core/caller'

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

/** A wake-up signal; it stays set until the next wait. */
export class Bell {
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

/** Returns the last event that a reconnecting client has; undefined for a first connection. */
export function lastEventId(request: ApiRequest): number | undefined {
  const text = request.header('last-event-id')
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,15}$/.test(text)) throw invalid('Last-Event-ID', 'must be the id of an event')
  return Number(text)
}

const MAX = { key: 100, organization: 500, total: 2_000 }

/**
 * Limits waiting requests and open streams: per key, per organization, so that one organization
 * cannot take the places of the others, and in total.
 */
export class ConnectionLimits {
  readonly #max: typeof MAX
  readonly #taken = new Map<string, number>()

  constructor(max: Partial<typeof MAX> = {}) {
    this.#max = { ...MAX, ...max }
  }

  /** Takes a place for the caller and returns a function that releases it. Throws 429 or 503. */
  take({ orgId, principal }: Pick<Caller, 'orgId' | 'principal'>): () => void {
    const headers = { 'Retry-After': '1' }
    const refuse = (who: string, most: number) =>
      fail('rate_limited', `${who} can have at most ${most} waiting requests`, { headers })
    const { key, organization, total } = this.#max
    if (this.#count(principal.id) >= key) throw refuse('A key', key)
    if (this.#count(orgId) >= organization) throw refuse('An organization', organization)
    if (this.#count('') >= total) throw fail('overloaded', undefined, { headers })
    const places = [principal.id, orgId, '']
    for (const place of places) this.#taken.set(place, this.#count(place) + 1)
    return () => {
      for (const place of places.splice(0)) {
        const left = this.#count(place) - 1
        if (left === 0) this.#taken.delete(place)
        else this.#taken.set(place, left)
      }
    }
  }

  #count(place: string): number {
    return this.#taken.get(place) ?? 0
  }
}
