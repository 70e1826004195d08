import { randomUUID } from 'node:crypto'
import { Periodic, Failure, isoTime } from '@remit/core/base'
import { eachPart, inPart, on } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { OutboundError } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import { cached } from '@remit/core/telemetry'
import { sql } from 'kysely'
import { SINKS } from './changes.ts'
import { listSinks, claimSink, settleSink, openTarget } from './store.ts'
import type { SinkRow } from '../tables/sinks.ts'
import { MOST, readBatch } from './batch.ts'
import { sendBatch, SinkFailure } from './targets/send.ts'
import type { Tables } from '../tables/schema.ts'

/** Milliseconds between two looks at the ledgers with sinks. */
const LOOK_MS = 1_000
/** Milliseconds between two searches for organizations with sinks; signals may be lost. */
const SEARCH_MS = 30_000
/** Sinks that one process serves at the same time. */
const MOST_AT_ONCE = 64

/**
 * Streams ledgers to sinks in the background, off the decision path. A sink belongs to the process that
 * claims it; organizations are served one by one, so that the failure of one does not stop another.
 */
export class SinkStreams {
  readonly #deps: StreamDeps & Pick<Deps, 'signals'>
  readonly #holder = randomUUID()
  /** Organizations with sinks, in the order of their next turn. */
  readonly #orgs = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #closing = new AbortController()
  readonly #looks: Periodic
  #unsubscribe = (): void => undefined
  #searchedAt = -Infinity

  constructor(deps: Deps, outbound: Outbound) {
    const { db, ledger, clock, secrets, log, signals } = deps
    this.#deps = { db, ledger, clock, secrets, log, signals, outbound }
    this.#looks = new Periodic(
      LOOK_MS,
      () => this.#look(),
      (error) => log.error({ err: error }, 'looking for entries for sinks failed'),
    )
  }

  start(): void {
    this.#unsubscribe = this.#deps.signals.subscribe(SINKS, (orgId) => {
      this.#orgs.add(orgId)
      void this.#looks.run()
    })
    this.#looks.start()
  }

  /** Starts no further batches and waits for the running ones. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#unsubscribe()
    await this.#looks.close()
    await Promise.all(this.#running.values())
  }

  async #look(): Promise<void> {
    if (performance.now() - this.#searchedAt >= SEARCH_MS) {
      for (const id of await this.#organizations()) this.#orgs.add(id)
      this.#searchedAt = performance.now()
    }
    // A snapshot: served organizations move to the end.
    for (const orgId of Array.from(this.#orgs)) {
      if (this.#closing.signal.aborted || this.#running.size >= MOST_AT_ONCE) return
      this.#orgs.delete(orgId)
      try {
        if (await this.#serve(orgId)) this.#orgs.add(orgId)
      } catch (error) {
        this.#orgs.add(orgId)
        this.#deps.log.warn({ err: error, orgId }, 'looking for entries for sinks failed')
      }
    }
  }

  /** Organizations that may have sinks. */
  async #organizations(): Promise<string[]> {
    const { db, log } = this.#deps
    const parts = await eachPart(
      db,
      (part) =>
        db
          .selectFrom('organization')
          .select('id')
          .where(inPart(part, 'id'))
          .where('plan', '=', 'enterprise')
          .execute(),
      (error, organizations) =>
        log.warn({ err: error, organizations }, 'looking for organizations with sinks failed'),
    )
    return parts.flat().map(({ id }) => id)
  }

  /** Starts to send what is due; returns whether the organization has sinks. */
  async #serve(orgId: string): Promise<boolean> {
    const { db, ledger, clock } = this.#deps
    const rows = (await listSinks(db, orgId)).filter(({ enabled }) => enabled === 1)
    if (rows.length === 0) return false
    const { size } = await ledger.head(orgId)
    for (const { id, next_seq: next, retry_at: retryAt } of rows)
      if (next < size && retryAt <= clock.now()) this.#begin(orgId, id)
    return true
  }

  #begin(orgId: string, id: string): void {
    const key = `${orgId}/${id}`
    if (this.#running.has(key)) return
    const { log } = this.#deps
    const sink = { org_id: orgId, id }
    const running = streamSink(this.#deps, sink, this.#holder, this.#closing.signal)
      .catch((error: unknown) => log.error({ err: error, orgId, sink: id }, 'a sink task failed'))
      .finally(() => this.#running.delete(key))
    this.#running.set(key, running)
  }
}

/** Longer than any attempt: afterwards the claiming process is considered dead. */
const LEASE_MS = 30_000
/** Age of its oldest entry at which a small batch is stored as an object. */
const FLUSH_MS = 60_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 5 * 60_000

type StreamDeps = Pick<Deps, 'db' | 'ledger' | 'clock' | 'secrets' | 'log'> & {
  readonly outbound: Outbound
}

/**
 * Sends the entries after the watermark of a sink, batch by batch, until none are left, an attempt
 * fails, or `over` aborts. Sends nothing while another process does. The watermark moves only after
 * the receiver accepted a batch.
 */
async function streamSink(
  deps: StreamDeps,
  sink: Pick<SinkRow, 'org_id' | 'id'>,
  holder: string,
  over: AbortSignal,
): Promise<void> {
  const { db, clock } = deps
  const now = clock.now()
  let row = await claimSink(db, sink, { holder, now, until: now + LEASE_MS })
  while (row) {
    const result = over.aborted ? null : await attempt(deps, row)
    const isAccepted = result !== null && result.error_code === null
    const lease = isAccepted
      ? { held_until: clock.now() + LEASE_MS }
      : { holder: null, held_until: 0 }
    const settled = await settleSink(db, row, { ...result, ...lease })
    row = isAccepted ? settled : undefined
  }
}

/** Sends one batch; returns the columns to store, null if there is nothing to send yet. */
async function attempt(deps: StreamDeps, row: SinkRow): Promise<Partial<SinkRow> | null> {
  const { ledger, clock, secrets, outbound } = deps
  try {
    const target = openTarget(secrets, row)
    // The key may be restored, so the sink waits for it.
    if (target === null) throw new SinkFailure('secret_unreadable', null)
    if (row.type === 's3' && !(await isWorthAnObject(deps, row))) return null
    const batch = await readBatch(ledger, row)
    if (batch === null) return null
    await sendBatch(outbound, row.type, target, batch)
    const sent = batch.records.length > 0 && { sent_at: isoTime(clock.now()) }
    return { next_seq: batch.to + 1, failures: 0, ...NO_ERROR, ...sent }
  } catch (error) {
    // Clients read the same ledger; they come first.
    if (error instanceof Failure && error.code === 'jobs_busy') return null
    if (error instanceof SinkFailure || error instanceof OutboundError)
      return failureOf(deps, row, error)
    throw error
  }
}

const NO_ERROR = { error_code: null, error_status: null, error_at: null } as const

function failureOf(
  { clock, log }: StreamDeps,
  { org_id: orgId, id, failures, next_seq: seq }: SinkRow,
  error: SinkFailure | OutboundError,
): Partial<SinkRow> {
  const now = clock.now()
  const status = error instanceof SinkFailure ? error.status : null
  log.warn({ orgId, sink: id, seq, code: error.code, status }, 'sending to a sink failed')
  const wait = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 20))
  return {
    failures: failures + 1,
    // Sinks of one receiver must not return in step.
    retry_at: now + Math.round(wait * (0.75 + Math.random() / 2)),
    error_code: error.code,
    error_status: status,
    error_at: isoTime(now),
  }
}

/** A full batch, or one that has waited long enough. */
async function isWorthAnObject(
  { ledger, clock }: StreamDeps,
  { org_id: orgId, next_seq: from }: SinkRow,
): Promise<boolean> {
  const { size } = await ledger.head(orgId)
  if (size - from >= MOST) return true
  const first = { order: 'asc', limit: 1, ...(from > 0 && { after_seq: from - 1 }) } as const
  const [oldest] = (await ledger.list(orgId, first)).data
  return oldest !== undefined && clock.now() - Date.parse(oldest.recorded_at) >= FLUSH_MS
}

/** The metric of entries that sinks have yet to send, the same from every server. */
export function lagMetric({ db, metrics }: Pick<Deps, 'db' | 'metrics'>): void {
  metrics.gauge(
    'remit_sink_lag_entries',
    'Entries that the sink of all organizations that is furthest behind has yet to examine',
    cached(async () => {
      const lags = await eachPart(
        db,
        (part) =>
          on<Tables>(db)
            .selectFrom('sink')
            .innerJoin('ledger_head', 'ledger_head.org_id', 'sink.org_id')
            .select(sql<number | string | null>`max(ledger_head.size - sink.next_seq)`.as('lag'))
            .where(inPart(part, 'sink.org_id'))
            .where('sink.enabled', '=', 1)
            .executeTakeFirstOrThrow(),
        // Without the organizations that are unavailable.
        () => undefined,
      )
      return Math.max(0, ...lags.map(({ lag }) => Number(lag ?? 0)))
    }),
  )
}
