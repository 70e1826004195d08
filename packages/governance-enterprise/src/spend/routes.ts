import { fromMicroUsd, spendLimits, toMicroUsd } from '@remit/contract'
import type { SpendLimit, SpendLimitInput } from '@remit/contract'
import { fail, implement, invalid, isoTime, Reply } from '@remit/core'
import type { AnyDatabase, Deps, Route } from '@remit/core'
import { actorOf, personOf } from '../actor.ts'
import type { SpendLimitRow } from '../schema.ts'
import { deleteLimit, findLimit, listLimits, putLimit } from './limits-store.ts'
import { findOverdueHolds, readTotals } from './totals-store.ts'
import { monthOf, windowsAt } from './windows.ts'

export const spendRoutes = ({ db, clock, writer }: Deps): Route[] =>
  implement(spendLimits, {
    listSpendLimits: async ({ query: { limit, cursor } }, caller) => {
      const rows = await listLimits(db, caller.orgId, { limit: limit + 1, afterAgent: cursor })
      const data = await withUsage(db, rows.slice(0, limit), clock.now())
      return { data, next_cursor: rows.length > limit ? (data.at(-1)?.agent_id ?? null) : null }
    },

    getSpendLimit: async ({ params }, caller) => {
      const row = await findLimit(db, caller.orgId, params.id)
      if (!row) throw fail('spend_limit_not_found')
      const [limit] = await withUsage(db, [row], clock.now())
      if (!limit) throw fail('spend_limit_not_found')
      return limit
    },

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
          const { spent: _, ...object } = limit
          return {
            entries: [
              {
                kind: 'spend_limit.set',
                actor: actorOf(admitted),
                agent_id: params.id,
                data: { spend_limit: object, ...personOf(admitted) },
              },
            ],
            reply: ([recorded]) =>
              new Reply(
                { ...limit, ...(recorded && { ledger: recorded.receipt }) },
                {
                  status: before ? 200 : 201,
                  ...(!before && { headers: { Location: `/v1/spend-limits/${params.id}` } }),
                },
              ),
          }
        },
      ),

    removeSpendLimit: ({ params }, caller, request) =>
      writer.change(caller.orgId, { ...request, caller }, async ({ tx }, admitted) => {
        if (!(await deleteLimit(tx, caller.orgId, params.id))) throw fail('spend_limit_not_found')
        return {
          entries: [
            {
              kind: 'spend_limit.removed',
              actor: actorOf(admitted),
              agent_id: params.id,
              data: { agent_id: params.id, ...personOf(admitted) },
            },
          ],
          reply: () => undefined,
        }
      }),
  })

const micro = (usd: number | null): number | null => (usd === null ? null : toMicroUsd(usd))
const usd = (amount: number | null): number | null =>
  amount === null ? null : fromMicroUsd(amount)

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
    created_at: before?.created_at ?? at,
    created_by: before?.created_by ?? by,
    updated_at: at,
  }
}

/** Limits as they are served, with the ledger's own totals; holds past their end do not count. */
async function withUsage(
  db: AnyDatabase,
  rows: readonly SpendLimitRow[],
  now: number,
): Promise<SpendLimit[]> {
  const [first] = rows
  if (!first) return []
  const windows = windowsAt(now)
  const agents = rows.map((row) => row.agent_id)
  const totals = await readTotals(db, first.org_id, agents, [windows.day, windows.month])
  const overdue = await findOverdueHolds(db, first.org_id, agents, isoTime(now))
  return rows.map((row) => {
    const usage = (window: string, from: string, resets_at: string) => {
      const total = totals.find((one) => one.agent_id === row.agent_id && one.window_id === window)
      const ended = overdue.filter(
        (hold) => hold.agent_id === row.agent_id && [hold.day, monthOf(hold.day)].includes(window),
      )
      const held = (total?.held_micro ?? 0) - ended.reduce((sum, hold) => sum + hold.held_micro, 0)
      return {
        from,
        usd: fromMicroUsd(total?.spent_micro ?? 0),
        held_usd: fromMicroUsd(held),
        resets_at,
      }
    }
    return {
      agent_id: row.agent_id,
      daily_usd: usd(row.daily_micro),
      monthly_usd: usd(row.monthly_micro),
      on_missing_amount: row.on_missing_amount === 'deny' ? 'deny' : 'zero',
      hold_ttl_seconds: row.hold_ttl_seconds,
      created_at: row.created_at,
      created_by: row.created_by,
      updated_at: row.updated_at,
      spent: {
        day: usage(windows.day, windows.dayFrom, windows.dayResets),
        month: usage(windows.month, windows.monthFrom, windows.monthResets),
      },
    }
  })
}
