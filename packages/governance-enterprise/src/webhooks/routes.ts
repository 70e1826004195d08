import { randomBytes } from 'node:crypto'
import { webhooks as endpoints } from '@remit/contract'
import type { webhooks } from '@remit/contract'
import { existing, fail, invalidCursor, isoTime, pageOf } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route, Handler } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { checkCount } from '@remit/core/orgs/settings'
import { firstOf, receipted, recording } from '@remit/core/ledger/lanes'
import { countWaiting, findLastAttempted, listDeliveries, sendAgain } from './deliveries-store.ts'
import type { WebhookRow } from '../tables/webhooks.ts'
import {
  openSecrets,
  sealedColumns,
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
} from './webhooks-store.ts'
import { targetOf } from './target.ts'
import { recordedWebhook, wireDelivery, wireWebhook, wholeDelivery } from './view.ts'
import { messageIdOf, seqOfMessage, TEST, TESTED, WEBHOOKS_TOPIC } from './outbox.ts'

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
      const row = existing(await findWebhook(db, orgId, id), 'webhook_not_found')
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
      return writer.change(caller.orgId, request, async (scope, admitted) => {
        const { tx, orgId, recordedAt } = scope
        if ((await countWebhooks(tx, orgId)) >= MAX_WEBHOOKS)
          throw fail(
            'too_many_webhooks',
            `An organization can have at most ${MAX_WEBHOOKS} webhooks`,
          )
        await checkCount(scope.organization, 'webhooks', () => countWebhooks(tx, orgId))
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
        const data = { webhook: recordedWebhook(row), ...personOf(admitted) }
        const headers = { Location: `/v1/webhooks/${id}` }
        return receipted(
          [{ kind: 'webhook.created', actor: actorOf(admitted), data }],
          { ...wire(row), secret: isSigned ? signing : null },
          (answer) => new Reply(answer, { status: 201, headers }),
        )
      })
    },

    deleteWebhook: ({ params: { id } }, caller, request) =>
      writer.change(caller.orgId, request, async ({ tx, orgId }, admitted) => {
        const row = existing(await deleteWebhook(tx, orgId, id), 'webhook_not_found')
        const data = { webhook: recordedWebhook(row), ...personOf(admitted) }
        return recording({ kind: 'webhook.deleted', actor: actorOf(admitted), data })
      }),
  })
}

type Names = 'listDeliveries' | 'redeliver' | 'testWebhook'
type Handlers = { readonly [K in Names]: Handler<(typeof webhooks)[K]> }

/** Deliveries of a webhook: the operator of a receiver finds out here why it gets nothing. */
function deliveryHandlers({ db, clock, writer, signals }: Deps): Handlers {
  const mustExist = async (orgId: string, id: string) => {
    if (!(await findWebhook(db, orgId, id))) throw fail('webhook_not_found')
  }
  return {
    listDeliveries: async ({ params: { id }, query: { limit: most, cursor } }, { orgId }) => {
      await mustExist(orgId, id)
      const before = cursor === undefined ? undefined : seqIn(cursor)
      return pageOf(most, {
        read: (limit) => listDeliveries(db, orgId, id, { limit, before }),
        cursor: ({ seq }) => String(seq),
        items: (rows) => rows.map(wholeDelivery),
      })
    },

    redeliver: async ({ params: { id, deliveryID } }, { orgId }) => {
      await mustExist(orgId, id)
      const seq = seqOfMessage(orgId, deliveryID)
      const place = seq === null ? null : { org_id: orgId, webhook_id: id, seq }
      const row = place && (await sendAgain(db, place, isoTime(clock.now())))
      if (!row) throw fail('delivery_not_found')
      signals.emit({ topic: WEBHOOKS_TOPIC, orgId })
      return new Reply(wholeDelivery(row), { status: 202 })
    },

    testWebhook: ({ params: { id } }, caller, request) =>
      writer.work(caller.orgId, request, async ({ tx, orgId, recordedAt }, admitted) => {
        const webhook = existing(await findWebhook(tx, orgId, id), 'webhook_not_found')
        const data = { webhook_id: id, webhook: recordedWebhook(webhook), ...personOf(admitted) }
        return {
          entries: [{ kind: TESTED, actor: actorOf(admitted), data }],
          reply: (recorded) =>
            new Reply(
              {
                id: messageIdOf(orgId, firstOf(recorded).row.seq),
                event: TEST,
                created_at: recordedAt,
                state: 'pending' as const,
                attempts: [],
                next_attempt_at: recordedAt,
              },
              { status: 202 },
            ),
        }
      }),
  }
}

function seqIn(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw invalidCursor()
  return Number(cursor)
}
