import type { Delivery, Webhook, WebhookDelivery, WebhookEvent } from '@remit/contract'
import { messageIdOf } from './outbox.ts'
import type { DeliveredEvent } from './outbox.ts'
import type { DeliveryRow, WebhookRow } from '../tables/webhooks.ts'
import { fullUrl } from './webhooks-store.ts'
import type { WebhookSecrets } from './webhooks-store.ts'

type Attempts = Delivery['attempts']

/** The recorded attempts of a delivery, oldest first. */
export const attemptsOf = ({ history }: Pick<DeliveryRow, 'history'>): Attempts =>
  history === null ? [] : (JSON.parse(history) as Attempts)

/** A webhook in API form, without the signing secret. */
export const wireWebhook = (row: WebhookRow, secrets: WebhookSecrets | null): Webhook => ({
  id: row.id,
  url: fullUrl(row, secrets),
  format: row.format ?? 'standard',
  events: JSON.parse(row.events) as WebhookEvent[],
  description: row.description,
  enabled: row.enabled === 1,
  disabled_reason: row.disabled_reason === 'gone' ? 'gone' : null,
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
})

/** A webhook in an entry, without the query of its URL, where receivers put tokens. */
export function recordedWebhook(row: WebhookRow): Webhook {
  return { ...wireWebhook(row, null), url: row.url.replace(/\?.*$/s, '') }
}

export const wireDelivery = (row: DeliveryRow): WebhookDelivery => ({
  message_id: messageIdOf(row.org_id, row.seq),
  event: row.event as DeliveredEvent,
  status: row.state === 'waiting' ? 'retrying' : row.state,
  at: row.attempted_at ?? row.created_at,
  attempts: row.attempts,
  http_status: row.http_status,
  error: row.error,
})

/** A delivery with every attempt. */
export const wholeDelivery = (row: DeliveryRow): Delivery => ({
  id: messageIdOf(row.org_id, row.seq),
  event: row.event as DeliveredEvent,
  created_at: row.created_at,
  state: row.state === 'waiting' ? 'pending' : row.state,
  attempts: attemptsOf(row),
  next_attempt_at: row.state === 'waiting' ? row.due_at : null,
})
