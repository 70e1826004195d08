import { spendLimits } from '@remit/contract'
import type { SpendHold, SpendLimitInput, SpendHistory, SpendLimit } from '@remit/contract'
import { fromMicroUsd } from '@remit/contract/values'
import { fail, invalid, isoTime, pageOf, timeOfId } from '@remit/core/base'
import { actorOf, isOwn, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { receipted, recording } from '@remit/core/ledger/lanes'
import type { Change } from '@remit/core/ledger/lanes'
import type { SpendHoldRow, SpendLimitRow, Tables } from '../tables/schema.ts'
import { listOpenHolds } from '../counters/store.ts'
import { deleteLimit, findLimit, listLimits, putLimit, withUsage } from './store.ts'
import { microOf, recordedLimit } from './limits.ts'
import { readSamples } from './samples.ts'

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
      writer.change(caller.orgId, request, putSpendLimit(params.id, body)),

    removeSpendLimit: ({ params }, caller, request) =>
      writer.change(caller.orgId, request, deleteSpendLimit(params.id)),
  })
}

/** Creates or replaces the limit of an agent. */
export const putSpendLimit =
  (agentId: string, body: SpendLimitInput): Change<Reply<SpendLimit>> =>
  async ({ tx, orgId, now, recordedAt }, caller) => {
    const before = await findLimit(tx, orgId, agentId)
    const row = toRow(orgId, agentId, body, recordedAt, before, actorOf(caller).id)
    await putLimit(tx, row)
    const [limit] = await withUsage(tx, [row], now)
    if (!limit) throw invalid('id', 'has no limit')
    const data = { spend_limit: recordedLimit(row), ...personOf(caller) }
    const replaced = before ? recordedLimit(before) : null
    const entry = { actor: actorOf(caller), agent_id: agentId, data, replaced }
    const headers = { Location: `/v1/spend-limits/${encodeURIComponent(agentId)}` }
    return receipted(
      [{ kind: 'spend_limit.set', ...entry }],
      limit,
      (answer) => new Reply<SpendLimit>(answer, before ? { status: 200 } : { headers }),
    )
  }

/** Deletes the limit of an agent. */
export const deleteSpendLimit =
  (agentId: string): Change<undefined> =>
  async ({ tx, orgId }, caller) => {
    const row = await deleteLimit(tx, orgId, agentId)
    if (!row) throw fail('spend_limit_not_found')
    const data = { agent_id: agentId, spend_limit: recordedLimit(row), ...personOf(caller) }
    const actor = actorOf(caller)
    return recording({ kind: 'spend_limit.removed', actor, agent_id: agentId, data })
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
    hourly_micro: microOf(input.hourly_usd),
    daily_micro: microOf(input.daily_usd),
    monthly_micro: microOf(input.monthly_usd),
    on_missing_amount: input.on_missing_amount,
    hold_ttl_seconds: input.hold_ttl_seconds,
    settlement_by_agent: input.settlement_by_agent,
    created_at: before?.created_at ?? at,
    created_by: before?.created_by ?? by,
    updated_at: at,
  }
}

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

type Points = SpendHistory['data']

interface Totals {
  readonly spent_micro: number
  readonly held_micro: number
}

/**
 * Returns the course of a window until now. Each point has the totals at its end; the last one is the
 * usage that the limit itself shows.
 */
async function historyOf(
  db: AnyDatabase,
  orgId: string,
  limit: SpendLimit,
  window: 'day' | 'month',
  now: number,
): Promise<SpendHistory> {
  const usage = limit.spent[window]
  const current = { at: isoTime(now), spent_usd: usage.usd, held_usd: usage.held_usd }
  const from = Date.parse(usage.from)
  const limitUsd = window === 'day' ? limit.daily_usd : limit.monthly_usd
  const { step, read, add } = COURSES[window]
  const samples = await read(db, orgId, limit.agent_id, isoTime(from), isoTime(now))
  let last: Totals = { spent_micro: 0, held_micro: 0 }
  const data = ends(from, now, step).map((end) => {
    last = add(last, samples.get(isoTime(end - step).slice(0, SAMPLE_LENGTHS[window])))
    return point(end, last)
  })
  return { data: [...data, current], limit_usd: limitUsd }
}

/** Letters of a time that name the sample of a step: its hour or its day. */
const SAMPLE_LENGTHS = { day: 13, month: 10 } as const

interface Course {
  readonly step: number
  /** The samples of a period by the name of their step. */
  readonly read: (
    db: AnyDatabase,
    orgId: string,
    agentId: string,
    from: string,
    to: string,
  ) => Promise<ReadonlyMap<string, Totals>>
  /** The totals at the end of a step, from those before it and its sample. */
  readonly add: (before: Totals, sample: Totals | undefined) => Totals
}

const COURSES: Readonly<Record<'day' | 'month', Course>> = {
  day: {
    step: HOUR_MS,
    async read(db, orgId, agentId, from, to) {
      const rows = await readSamples(db, orgId, agentId, from.slice(0, 13), to.slice(0, 13))
      return new Map(rows.map((row) => [row.hour, row]))
    },
    // A sample is a total; an hour without one has the totals of the hour before.
    add: (before, sample) => sample ?? before,
  },
  month: {
    step: DAY_MS,
    async read(db, orgId, agentId, from, to) {
      const rows = await on<Tables>(db)
        .selectFrom('spend_total')
        .select(['window_id', 'spent_micro', 'held_micro'])
        .where('org_id', '=', orgId)
        .where('agent_id', '=', agentId)
        .where('window_id', '>=', from.slice(0, SAMPLE_LENGTHS.month))
        .where('window_id', '<=', to.slice(0, SAMPLE_LENGTHS.month))
        .execute()
      return new Map(rows.map((row) => [row.window_id, row]))
    },
    add: (before, day) => ({
      spent_micro: before.spent_micro + (day?.spent_micro ?? 0),
      held_micro: before.held_micro + (day?.held_micro ?? 0),
    }),
  },
}

/** The ends of the whole steps between two times. */
const ends = (from: number, now: number, step: number): number[] =>
  Array.from({ length: Math.floor((now - from) / step) }, (_, i) => from + (i + 1) * step)

const point = (at: number, { spent_micro, held_micro }: Totals): Points[number] => ({
  at: isoTime(at),
  spent_usd: fromMicroUsd(spent_micro),
  held_usd: fromMicroUsd(held_micro),
})
