import { randomBytes } from 'node:crypto'
import { webhooks as endpoints } from '@remit/contract'
import { fail, pageOf } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { checkCount } from '@remit/core/orgs/settings'
import { deliveryHandlers } from './delivery-handlers.ts'
import { countWaiting, findLastAttempted } from './deliveries-store.ts'
import type { WebhookRow } from '../tables/webhooks.ts'
import { openSecrets, sealedColumns } from './secrets.ts'
import { targetOf } from './target.ts'
import { recordedWebhook, wireDelivery, wireWebhook } from './view.ts'
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
} from './webhooks-store.ts'

/** The maximum number of webhooks of an organization. */
const MAX_WEBHOOKS = 20

export function webhookRoutes(deps: Deps): Route[] {
  const { db, clock, ids, writer, secrets } = deps
  const wire = (row: WebhookRow) => wireWebhook(row, openSecrets(secrets, row))
  return implement(endpoints, {
    listWebhooks: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listWebhooks(db, orgId, { limit, after: query.cursor }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(wire),
      }),

    getWebhook: async ({ params: { id } }, { orgId }) => {
      const row = await findWebhook(db, orgId, id)
      if (!row) throw fail('webhook_not_found')
      const last = await findLastAttempted(db, orgId, id)
      return {
        ...wire(row),
        pending: await countWaiting(db, orgId, id),
        last_delivery: last ? wireDelivery(last) : null,
      }
    },

    ...deliveryHandlers(deps),

    createWebhook: ({ body }, caller, request) => {
      const { url, events } = targetOf(deps, body)
      const { format, description, enabled } = body
      const isSigned = format === 'standard'
      const id = ids.next('whk_', clock.now())
      return writer.change(caller.orgId, { ...request, caller }, async (scope, admitted) => {
        const { tx, orgId, recordedAt } = scope
        if ((await countWebhooks(tx, orgId)) >= MAX_WEBHOOKS)
          throw fail(
            'too_many_webhooks',
            `An organization can have at most ${MAX_WEBHOOKS} webhooks`,
          )
        await checkCount(tx, orgId, 'webhooks', () => countWebhooks(tx, orgId))
        const signing = isSigned ? `whsec_${randomBytes(32).toString('base64')}` : ''
        const row: WebhookRow = {
          org_id: orgId,
          id,
          ...sealedColumns(secrets, { org_id: orgId, id, format }, { url, signing }),
          format,
          events: JSON.stringify(events),
          description,
          enabled: enabled ? 1 : 0,
          disabled_reason: null,
          created_at: recordedAt,
          created_by: actorOf(admitted).id,
          updated_at: recordedAt,
        }
        await insertWebhook(tx, row)
        return {
          entries: [
            {
              kind: 'webhook.created',
              actor: actorOf(admitted),
              data: { webhook: recordedWebhook(row), ...personOf(admitted) },
            },
          ],
          reply: ([recorded]) =>
            new Reply(
              {
                ...wire(row),
                secret: isSigned ? signing : null,
                ...(recorded && { ledger: recorded.receipt }),
              },
              { status: 201, headers: { Location: `/v1/webhooks/${id}` } },
            ),
        }
      })
    },

    deleteWebhook: ({ params: { id } }, caller, request) =>
      writer.change(caller.orgId, { ...request, caller }, async ({ tx, orgId }, admitted) => {
        const row = await deleteWebhook(tx, orgId, id)
        if (!row) throw fail('webhook_not_found')
        return {
          entries: [
            {
              kind: 'webhook.deleted',
              actor: actorOf(admitted),
              data: { webhook: recordedWebhook(row), ...personOf(admitted) },
            },
          ],
          reply: () => undefined,
        }
      }),
  })
}
