import type { WebhookEvent } from '@remit/contract'
import type { EntryObserver, LinkedEntry, Scope } from '@remit/core'
import { deliveryRows } from './deliveries-store.ts'
import type { DeliveryRow } from './schema.ts'
import { eventOf } from './message.ts'
import { listWebhooks } from './webhooks-store.ts'

/** Topic of the signal that there is something to deliver. */
export const TOPIC = 'webhooks'

/** Which webhooks want which event, at one version of the organization's configuration. */
interface Subscriptions {
  readonly version: number
  readonly byEvent: ReadonlyMap<WebhookEvent, readonly string[]>
}

const MAX_ORGANIZATIONS = 1_000

/** Puts a row for every message into the transaction that writes the entry it is about. */
export class Outbox implements EntryObserver {
  readonly #byOrg = new Map<string, Subscriptions>()

  async observe(entries: readonly LinkedEntry[], scope: Scope): Promise<void> {
    const told = entries.flatMap(({ row, content }) => {
      const event = eventOf(row.kind, content.decision)
      return event === null ? [] : [{ event, seq: row.seq }]
    })
    if (told.length === 0) return
    const { byEvent } = await this.#subscriptions(scope)
    const rows = told.flatMap(({ event, seq }) =>
      (byEvent.get(event) ?? []).map((webhookId) => newDelivery(scope, webhookId, seq, event)),
    )
    if (rows.length === 0) return
    scope.writes.push(deliveryRows(rows))
    scope.announce(TOPIC)
  }

  async #subscriptions({ orgId, configVersion, tx }: Scope): Promise<Subscriptions> {
    const known = this.#byOrg.get(orgId)
    if (known?.version === configVersion) return known
    const byEvent = new Map<WebhookEvent, string[]>()
    for (const { id, events, enabled } of await listWebhooks(tx, orgId)) {
      for (const event of enabled ? (JSON.parse(events) as WebhookEvent[]) : []) {
        byEvent.set(event, [...(byEvent.get(event) ?? []), id])
      }
    }
    const loaded = { version: configVersion, byEvent }
    this.#byOrg.delete(orgId)
    this.#byOrg.set(orgId, loaded)
    for (const oldest of this.#byOrg.keys()) {
      if (this.#byOrg.size <= MAX_ORGANIZATIONS) break
      this.#byOrg.delete(oldest)
    }
    return loaded
  }
}

const newDelivery = (
  { orgId, recordedAt }: Scope,
  webhookId: string,
  seq: number,
  event: WebhookEvent,
): Omit<DeliveryRow, 'attempted_at' | 'finished_at' | 'http_status' | 'error'> => ({
  org_id: orgId,
  webhook_id: webhookId,
  seq,
  event,
  state: 'waiting',
  attempts: 0,
  created_at: recordedAt,
  due_at: recordedAt,
})
