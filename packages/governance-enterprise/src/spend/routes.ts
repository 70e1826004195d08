import { spendLimits } from '@remit/contract'
import type { SpendHold, SpendLimitInput } from '@remit/contract'
import { fromMicroUsd, toMicroUsd } from '@remit/contract/values'
import { fail, invalid, isoTime, pageOf, timeOfId } from '@remit/core/base'
import { actorOf, isOwn, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import type { SpendHoldRow, SpendLimitRow } from '../tables/schema.ts'
import { deleteLimit, findLimit, listLimits, putLimit } from './limits-store.ts'
import { historyOf } from './history.ts'
import { listOpenHolds } from './totals-store.ts'
import { recordedLimit, withUsage } from './usage.ts'

export function spendRoutes({ db, clock, writer }: Deps): Route[] {
  const limitOf = async (caller: Caller, agentId: string) => {
    const row = await findLimit(db, caller.orgId, agentId)
    if (!row || !isOwn(caller, row.agent_id)) throw fail('spend_limit_not_found')
    const [limit] = await withUsage(db, [row], clock.now())
    if (!limit) throw fail('spend_limit_not_found')
    return limit
  }
  return implement(spendLimits, {
    listSpendLimits: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listLimits(db, orgId, { limit, after: query.cursor }),
        cursor: (row) => row.agent_id,
        items: (rows) => withUsage(db, rows, clock.now()),
      }),

    getSpendLimit: ({ params }, caller) => limitOf(caller, params.id),

    getSpendHistory: async ({ params, query }, caller) => {
      const limit = await limitOf(caller, params.id)
      return historyOf(db, caller.orgId, limit, query.window, clock.now())
    },

    listSpendHolds: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listOpenHolds(db, orgId, { ...query, limit, now: isoTime(clock.now()) }),
        cursor: (row) => row.decision_id,
        items: (rows) => rows.map(toHold),
      }),

    setSpendLimit: ({ params, body }, caller, request) =>
      writer.change(
        caller.orgId,
        { ...request, caller },
        async ({ tx, now, recordedAt }, admitted) => {
          const before = await findLimit(tx, caller.orgId, params.id)
          const row = toRow(caller.orgId, params.id, body, recordedAt, before, actorOf(admitted).id)
          await putLimit(tx, row)
          const [limit] = await withUsage(tx, [row], now)
          if (!limit) throw invalid('id', 'has no limit')
          return {
            entries: [
              {
                kind: 'spend_limit.set',
                actor: actorOf(admitted),
                agent_id: params.id,
                data: { spend_limit: recordedLimit(row), ...personOf(admitted) },
              },
            ],
            reply: ([recorded]) =>
              new Reply(
                { ...limit, ...(recorded && { ledger: recorded.receipt }) },
                {
                  status: before ? 200 : 201,
                  ...(!before && {
                    headers: { Location: `/v1/spend-limits/${encodeURIComponent(params.id)}` },
                  }),
                },
              ),
          }
        },
      ),

    removeSpendLimit: ({ params }, caller, request) =>
      writer.change(caller.orgId, { ...request, caller }, async ({ tx }, admitted) => {
        const row = await deleteLimit(tx, caller.orgId, params.id)
        if (!row) throw fail('spend_limit_not_found')
        return {
          entries: [
            {
              kind: 'spend_limit.removed',
              actor: actorOf(admitted),
              agent_id: params.id,
              data: {
                agent_id: params.id,
                spend_limit: recordedLimit(row),
                ...personOf(admitted),
              },
            },
          ],
          reply: () => undefined,
        }
      }),
  })
}

const toHold = ({
  decision_id,
  agent_id,
  day,
  held_micro,
  expires_at,
}: SpendHoldRow): SpendHold => ({
  decision_id,
  agent_id,
  amount_usd: fromMicroUsd(held_micro),
  held_at: isoTime(timeOfId(decision_id) ?? Date.parse(day)),
  expires_at,
})

const micro = (usd: number | null): number | null => (usd === null ? null : toMicroUsd(usd))

function toRow(
  orgId: string,
  agentId: string,
  input: SpendLimitInput,
  at: string,
  before: SpendLimitRow | undefined,
  by: string,
): SpendLimitRow {
  return {
    org_id: orgId,
    agent_id: agentId,
    daily_micro: micro(input.daily_usd),
    monthly_micro: micro(input.monthly_usd),
    on_missing_amount: input.on_missing_amount,
    hold_ttl_seconds: input.hold_ttl_seconds,
    settlement_by_agent: input.settlement_by_agent,
    created_at: before?.created_at ?? at,
    created_by: before?.created_by ?? by,
    updated_at: at,
  }
}
