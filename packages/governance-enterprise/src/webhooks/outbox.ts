import type { WebhookEvent, Entry } from '@remit/contract'
import type { EntryObserver, LinkedEntry, LedgerScope } from '@remit/core/ledger/lanes'
import { ENTRIES } from '@remit/contract/entries'
import type { EntryKind, EntryKindRow } from '@remit/contract/entries'
import { ByVersion } from '../base/by-version.ts'
import { deliveryRows } from './deliveries-store.ts'
import type { DeliveryRow } from '../tables/webhooks.ts'
import { listWebhooks } from './webhooks-store.ts'

/** The topic of the signal for new messages. */
export const WEBHOOKS_TOPIC = 'webhooks'

type Subscriptions = ReadonlyMap<WebhookEvent, readonly string[]>

/** Adds a row per message to the transaction that writes its entry. */
export class Outbox implements EntryObserver {
  readonly #subscriptions = new ByVersion<Subscriptions>()

  async observe(entries: readonly LinkedEntry[], scope: LedgerScope): Promise<void> {
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

async function load({ tx, orgId }: LedgerScope): Promise<Subscriptions> {
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
  { orgId, recordedAt }: LedgerScope,
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

/** The event of a test, which goes to one webhook whatever its events, and the kind of its entry. */
export const TEST = 'webhook.test'
export const TESTED = 'webhook.tested' satisfies EntryKind

export type DeliveredEvent = WebhookEvent | typeof TEST

const EVENTS: ReadonlyMap<string, EntryKindRow['event']> = new Map(
  Object.entries(ENTRIES).map(([kind, { event }]) => [kind, event]),
)

/** The event of an entry; null if webhooks do not receive it. */
export function eventOf(kind: string, decision: string | null): WebhookEvent | null {
  const event = EVENTS.get(kind)
  return event && (event.on === undefined || event.on === decision) ? event.is : null
}

/** Equal for all attempts and webhooks, so that a receiver can recognize a repeat. */
export const messageIdOf = (orgId: string, seq: number): string =>
  `msg_${orgId.replace(/^org_/, '')}_${seq}`

/**
 * The body of a message in the shape of Standard Webhooks: type, time and facts. The context of a
 * request is omitted, since it may be confidential.
 */
export const bodyOf = (event: DeliveredEvent, entry: Entry): string =>
  JSON.stringify({ type: event, timestamp: entry.recorded_at, data: dataOf(entry) })

function dataOf(entry: Entry): Record<string, unknown> {
  const { kind, agent_id, action, resource, decision, reason, seq, hash } = entry
  const data = entry.data ?? {}
  const ledger = { seq, hash }
  if (kind === TESTED) return { webhook_id: data['webhook_id'], ledger }
  const sends = EVENTS.get(kind)?.sends ?? []
  if (sends === 'data') return { ...data, ledger }
  const { context: _, ...approval } = (data['approval'] ?? {}) as Record<string, unknown>
  const all = { ...data, approval, agent_id, action, resource, decision, reason }
  return { ...Object.fromEntries(sends.map((name) => [name, own(all, name)])), ledger }
}

const own = (members: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined

/** Returns the sequence number of a message; null for any other text. */
export function seqOfMessage(orgId: string, id: string): number | null {
  const [, seq] = /_(\d{1,15})$/.exec(id) ?? []
  return seq !== undefined && messageIdOf(orgId, Number(seq)) === id ? Number(seq) : null
}
