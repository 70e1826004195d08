import type { WebhookEvent } from '@remit/contract'
import type { EntryObserver, LinkedEntry, WriteContext } from '@remit/core/ledger/lanes'
import { ByVersion } from '../base/by-version.ts'
import { deliveryRows } from './deliveries-store.ts'
import type { DeliveryRow } from '../tables/webhooks.ts'
import { eventOf, TEST, TESTED } from './message.ts'
import type { DeliveredEvent } from './message.ts'
import { listWebhooks } from './webhooks-store.ts'

/** The topic of the signal for new messages. */
export const WEBHOOKS_TOPIC = 'webhooks'

/** The webhooks by subscribed event. */
type Subscriptions = ReadonlyMap<WebhookEvent, readonly string[]>

/** Adds a row per message to the transaction that writes its entry. */
export class Outbox implements EntryObserver {
  readonly #subscriptions = new ByVersion<Subscriptions>()

  async observe(entries: readonly LinkedEntry[], scope: WriteContext): Promise<void> {
    const rows: NewDelivery[] = []
    for (const { row, content } of entries) {
      const event = eventOf(row.kind, content.decision)
      if (event !== null) {
        const subscriptions = await this.#subscriptions.at(scope, () => load(scope))
        for (const id of subscriptions.get(event) ?? [])
          rows.push(newDelivery(scope, id, row.seq, event))
      }
      const tested = row.kind === TESTED ? content.data['webhook_id'] : undefined
      if (typeof tested === 'string') rows.push(newDelivery(scope, tested, row.seq, TEST))
    }
    if (rows.length === 0) return
    scope.writes.push(deliveryRows(rows))
    scope.announce(WEBHOOKS_TOPIC)
  }
}

async function load({ tx, orgId }: WriteContext): Promise<Subscriptions> {
  const byEvent = new Map<WebhookEvent, string[]>()
  for (const { id, events, enabled } of await listWebhooks(tx, orgId)) {
    for (const event of enabled ? (JSON.parse(events) as WebhookEvent[]) : []) {
      byEvent.set(event, [...(byEvent.get(event) ?? []), id])
    }
  }
  return byEvent
}

type NewDelivery = Omit<
  DeliveryRow,
  'attempted_at' | 'finished_at' | 'http_status' | 'error' | 'history'
>

const newDelivery = (
  { orgId, recordedAt }: WriteContext,
  webhookId: string,
  seq: number,
  event: DeliveredEvent,
): NewDelivery => ({
  org_id: orgId,
  webhook_id: webhookId,
  seq,
  event,
  state: 'waiting',
  attempts: 0,
  created_at: recordedAt,
  due_at: recordedAt,
})
