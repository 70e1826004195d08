import type { UsageSinkSettings } from '@remit/core/module'
import { OutboundError } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import type { UsageHourRow } from '../tables/usage.ts'

/** A count as billing systems know it. The same id always has the same quantity. */
export interface UsageEvent {
  readonly id: string
  readonly orgId: string
  readonly meter: string
  /** Start of the hour, RFC 3339. */
  readonly hour: string
  readonly quantity: number
  readonly fromSeq: number
  readonly toSeq: number
}

/** A billing system. Events may come more than once; their id tells. */
export interface UsageSink {
  /** Rejects unless the event was accepted. */
  send(event: UsageEvent): Promise<void>
}

export const eventOf = (row: UsageHourRow): UsageEvent => ({
  id: `${row.org_id}:${row.meter}:${row.hour}:${row.to_seq}`,
  orgId: row.org_id,
  meter: row.meter,
  hour: `${row.hour}:00:00.000Z`,
  quantity: row.quantity,
  fromSeq: row.from_seq,
  toSeq: row.to_seq,
})

/** Returns the sink of the settings. */
export const createUsageSink = (settings: UsageSinkSettings, outbound: Outbound): UsageSink => ({
  async send(event) {
    const { url, key } = settings
    const request =
      settings.type === 'stripe'
        ? stripeRequest(event, settings.customers)
        : cloudEventRequest(event)
    const { status } = await outbound.fetch(url, {
      method: 'POST',
      headers: { ...request.headers, ...(key !== null && { authorization: `Bearer ${key}` }) },
      body: request.body,
    })
    if (status < 200 || status > 299)
      throw new OutboundError('response_broken', `the usage sink responded with status ${status}`)
  },
})

/** A meter event of Stripe. */
function stripeRequest(
  { id, orgId, meter, hour, quantity }: UsageEvent,
  customers: UsageSinkSettings['customers'],
) {
  const body = new URLSearchParams({
    event_name: `remit_${meter}`,
    identifier: id,
    timestamp: String(Date.parse(hour) / 1000),
    'payload[stripe_customer_id]': customers?.get(orgId) ?? orgId,
    'payload[value]': String(quantity),
  })
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': id },
    body: body.toString(),
  }
}

/** CloudEvents 1.0 in structured mode. */
function cloudEventRequest({ id, orgId, meter, hour, ...rest }: UsageEvent) {
  const body = {
    specversion: '1.0',
    id,
    source: 'remit',
    type: 'remit.usage',
    subject: orgId,
    time: hour,
    datacontenttype: 'application/json',
    data: { meter, hour, quantity: rest.quantity, from_seq: rest.fromSeq, to_seq: rest.toSeq },
  }
  return {
    headers: { 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(body),
  }
}
