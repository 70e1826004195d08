import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'
import type { WebhookRow } from '../tables/webhooks.ts'

const webhooks = orgTable<Tables, 'webhook'>('webhook', 'id')

/** Ids sort by creation, and so does the list. */
export const {
  find: findWebhook,
  list: listWebhooks,
  count: countWebhooks,
  insert: insertWebhook,
  change: changeWebhook,
} = webhooks

/** Disables a webhook; undefined if it does not exist or is already disabled. */
export const disableWebhook = (
  db: AnyDatabase,
  orgId: string,
  id: string,
  change: { disabled_reason: string; updated_at: string },
): Promise<WebhookRow | undefined> =>
  changeWebhook(db, orgId, id, { enabled: 0, ...change }, { enabled: 1 })

/** Deletes a webhook and its deliveries. */
export async function deleteWebhook(
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<WebhookRow | undefined> {
  await on<Tables>(db)
    .deleteFrom('webhook_delivery')
    .where('org_id', '=', orgId)
    .where('webhook_id', '=', id)
    .execute()
  return webhooks.remove(db, orgId, id)
}
