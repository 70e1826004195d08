import { on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import type { WebhookRow } from '../tables/webhooks.ts'

export const findWebhook = (
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<WebhookRow | undefined> =>
  on<Tables>(db)
    .selectFrom('webhook')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst()

/** Webhooks in order of id (and creation), after `afterId`. */
export async function listWebhooks(
  db: AnyDatabase,
  orgId: string,
  options: { limit?: number; afterId?: string | undefined } = {},
): Promise<WebhookRow[]> {
  let query = on<Tables>(db)
    .selectFrom('webhook')
    .selectAll()
    .where('org_id', '=', orgId)
    .orderBy('id')
  if (options.afterId !== undefined) query = query.where('id', '>', options.afterId)
  if (options.limit !== undefined) query = query.limit(options.limit)
  return query.execute()
}

export async function countWebhooks(db: AnyDatabase, orgId: string): Promise<number> {
  const { count } = await on<Tables>(db)
    .selectFrom('webhook')
    .select((of) => of.fn.countAll().as('count'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertWebhook(db: AnyDatabase, row: WebhookRow): Promise<void> {
  await on<Tables>(db).insertInto('webhook').values(row).execute()
}

/** Disables a webhook; undefined if it does not exist or is already disabled. */
export const disableWebhook = (
  db: AnyDatabase,
  orgId: string,
  id: string,
  change: { disabled_reason: string; updated_at: string },
): Promise<WebhookRow | undefined> =>
  on<Tables>(db)
    .updateTable('webhook')
    .set({ enabled: 0, ...change })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .returningAll()
    .executeTakeFirst()

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
  return on<Tables>(db)
    .deleteFrom('webhook')
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}
