import type { Part } from '@remit/core/db'
import type { Deps, UsageSinkSettings } from '@remit/core/module'
import { createOutbound, OutboundError } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import { LedgerFollower } from '../followers/follower.ts'
import type { Behind } from '../followers/follower.ts'
import { HourCount } from './fold.ts'
import { addHour, findUnsent, markSent, readEntries } from './store.ts'
import type { UsageHourRow } from '../tables/usage.ts'

type UsageDeps = Pick<Deps, 'db' | 'clock' | 'log' | 'settings'>

const EVERY_MS = 60_000
/** The number of failed runs after which another process takes over. */
const MISSED = 3
const PIECE = 100
const PAGE = 1_000
/** Entries of an hour may still arrive from processes whose clocks are late. */
const MARGIN_MS = 2 * 60 * 1000
const HOUR_MS = 60 * 60 * 1000
const HOUR = 13

/**
 * Counts the usage of past hours from the ledgers, off the decision path, and sends the counts to a
 * billing system at least once. Only the process that holds the lease does it.
 */
export class UsageKeeper extends LedgerFollower {
  readonly #deps: UsageDeps
  readonly #outbound: Outbound

  constructor(deps: UsageDeps) {
    const { usageSink: settings, watchEveryMs } = deps.settings
    super(deps, {
      name: 'usage',
      everyMs: settings?.everyMs ?? watchEveryMs ?? EVERY_MS,
      missed: MISSED,
      failure: 'counting or sending usage failed',
    })
    this.#deps = deps
    // The operator chose the address, so it may be on a private network.
    const allowLoopback = settings?.allowLoopback === true
    this.#outbound = createOutbound({ allowPrivate: true, allowLoopback })
  }

  protected async work(): Promise<void> {
    await this.behind('usage_progress', (behind) => this.#count(behind))
    await this.eachPart((part) => this.#send(part))
  }

  /** Counts all past hours of a ledger, each in its own transaction. */
  async #count({ orgId, nextSeq }: Behind): Promise<void> {
    let next = nextSeq
    while (!this.isClosed) {
      const counted = await this.#countHour(orgId, next ?? 0)
      if (!counted) return
      const rows = counted.count.counts().map(([meter, quantity]) => ({
        org_id: orgId,
        hour: counted.hour,
        meter,
        from_seq: counted.fromSeq,
        to_seq: counted.toSeq,
        quantity,
        sent: 0,
      }))
      if (!(await addHour(this.db, { orgId, nextSeq: next }, counted.toSeq + 1, rows))) return
      next = counted.toSeq + 1
    }
  }

  /** Counts the hour of the next entry; null if there is none or the hour has not ended. */
  async #countHour(orgId: string, from: number) {
    const count = new HourCount()
    let first: { hour: string; fromSeq: number } | null = null
    let next = from
    for (;;) {
      const page = await readEntries(this.db, orgId, next, PAGE)
      for (const entry of page) {
        const hour = entry.recorded_at.slice(0, HOUR)
        first ??= { hour, fromSeq: entry.seq }
        if (hour !== first.hour) return { ...first, toSeq: next - 1, count }
        if (!this.#isPast(hour)) return null
        count.add(entry)
        next = entry.seq + 1
      }
      if (page.length < PAGE) return first && { ...first, toSeq: next - 1, count }
    }
  }

  #isPast(hour: string): boolean {
    const end = Date.parse(`${hour}:00:00.000Z`) + HOUR_MS
    return this.#deps.clock.now() >= end + MARGIN_MS
  }

  /** Stops at the first refusal; the next run sends the rest, and this one again. */
  async #send(part: Part): Promise<void> {
    const { usageSink } = this.#deps.settings
    if (!usageSink) return
    const organizations = usageSink.customers && [...usageSink.customers.keys()]
    for (;;) {
      const rows = await findUnsent(this.db, part, organizations, PIECE)
      for (const row of rows) {
        if (!(await this.holds())) return
        await sendUsage(usageSink, this.#outbound, row)
        await markSent(this.db, row)
      }
      if (rows.length < PIECE) return
    }
  }
}

/**
 * Sends a count to the billing system, which may get it more than once: the same id always has the
 * same quantity. Rejects unless it was accepted.
 */
async function sendUsage(
  settings: UsageSinkSettings,
  outbound: Outbound,
  row: UsageHourRow,
): Promise<void> {
  const { url, key, customers } = settings
  const id = `${row.org_id}:${row.meter}:${row.hour}:${row.to_seq}`
  const time = `${row.hour}:00:00.000Z`
  const { headers, body } =
    settings.type === 'stripe'
      ? stripeRequest(row, id, time, customers?.get(row.org_id) ?? row.org_id)
      : cloudEventRequest(row, id, time)
  const { status } = await outbound.fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(key !== null && { authorization: `Bearer ${key}` }) },
    body,
  })
  if (status < 200 || status > 299)
    throw new OutboundError('response_broken', `the usage sink responded with status ${status}`)
}

/** A meter event of Stripe. */
function stripeRequest(
  { meter, quantity }: UsageHourRow,
  id: string,
  time: string,
  customer: string,
) {
  const body = new URLSearchParams({
    event_name: `remit_${meter}`,
    identifier: id,
    timestamp: String(Date.parse(time) / 1000),
    'payload[stripe_customer_id]': customer,
    'payload[value]': String(quantity),
  })
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': id },
    body: body.toString(),
  }
}

/** CloudEvents 1.0 in structured mode. */
function cloudEventRequest(row: UsageHourRow, id: string, time: string) {
  const { org_id: subject, meter, quantity, from_seq, to_seq } = row
  const body = {
    specversion: '1.0',
    id,
    source: 'remit',
    type: 'remit.usage',
    subject,
    time,
    datacontenttype: 'application/json',
    data: { meter, hour: time, quantity, from_seq, to_seq },
  }
  return {
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(body),
  }
}
