import type { webhooks } from '@remit/contract'
import { fail, invalidCursor, isoTime, pageOf } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import { Reply } from '@remit/core/http'
import type { Handler } from '@remit/core/http'
import { firstOf } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { listDeliveries, sendAgain } from './deliveries-store.ts'
import { messageIdOf, seqOfMessage, TEST, TESTED } from './message.ts'
import { WEBHOOKS_TOPIC } from './outbox.ts'
import { recordedWebhook, wholeDelivery } from './view.ts'
import { findWebhook } from './webhooks-store.ts'

type Names = 'listDeliveries' | 'redeliver' | 'testWebhook'
type Handlers = { readonly [K in Names]: Handler<(typeof webhooks)[K]> }

/** Deliveries of a webhook: the operator of a receiver finds out here why it gets nothing. */
export function deliveryHandlers({ db, clock, writer, signals }: Deps): Handlers {
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
      writer.work(
        caller.orgId,
        { ...request, caller },
        async ({ tx, orgId, recordedAt }, admitted) => {
          const webhook = await findWebhook(tx, orgId, id)
          if (!webhook) throw fail('webhook_not_found')
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
        },
      ),
  }
}

function seqIn(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw invalidCursor()
  return Number(cursor)
}
