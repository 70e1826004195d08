import { isoTime, Periodic } from '@remit/core/base'
import { eachPart, inPart, on, writeRows } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { sql } from 'kysely'
import { needsOf, sumOf } from './evaluate.ts'
import { treeOf } from './tree.ts'
import { timeOf } from './windows.ts'
import { readCounters } from '../counters/store.ts'
import type { SpendHourRow, Tables } from '../tables/schema.ts'

const EVERY_MS = 60_000
const KEPT_MS = 48 * 60 * 60 * 1000

/**
 * Copies the totals of the day of every limited agent as those of the current hour. Processes may do
 * it at the same time, as each writes the same state.
 */
export async function sampleHour(db: AnyDatabase, part: Part, now: number): Promise<void> {
  const hour = isoTime(now).slice(0, 13)
  await sql`insert into spend_hour (org_id, agent_id, hour, spent_micro, held_micro)
    select t.org_id, t.agent_id, ${hour}, t.spent_micro, t.held_micro
    from spend_limit l join spend_total t on t.org_id = l.org_id and t.agent_id = l.agent_id
    where ${inPart(part, 't.org_id')} and t.window_id = ${hour.slice(0, 10)}
    on conflict (org_id, agent_id, hour) do update
      set spent_micro = excluded.spent_micro, held_micro = excluded.held_micro`.execute(db)
  await sampleBudgets(db, part, now)
  const oldest = isoTime(now - KEPT_MS).slice(0, 13)
  await on<Tables>(db)
    .deleteFrom('spend_hour')
    .where(inPart(part))
    .where('hour', '<', oldest)
    .execute()
  // Its condition is that of the index.
  await on<Tables>(db)
    .deleteFrom('spend_total')
    .where(inPart(part))
    .where(sql<boolean>`length(window_id) = 13`)
    .where('window_id', '<', oldest)
    .execute()
}

/** Counters of windows that ended before are deleted: 400 days, as the name of a day. */
export const oldestWindow = (now: number): string =>
  isoTime(now - 400 * 24 * 60 * 60 * 1000).slice(0, 10)

/** Copies the usage of budgets without `per` as that of the current hour; deletes their old counters. */
async function sampleBudgets(db: AnyDatabase, part: Part, now: number): Promise<void> {
  const all = await on<Tables>(db).selectFrom('budget').selectAll().where(inPart(part)).execute()
  if (all.length === 0) return
  const hour = isoTime(now).slice(0, 13)
  for (const [orgId, rows] of Map.groupBy(all, ({ org_id }) => org_id)) {
    const nodes = [...(treeOf({ rows, registry: null, mayEnd: false })?.byUid.values() ?? [])]
    const steps = nodes.flatMap((node) =>
      node.per === null ? [{ node, subject: node.subject, time: timeOf(node, now) }] : [],
    )
    const needs = needsOf(
      steps.map((step) => ({ ...step, value: undefined })),
      true,
    )
    const counters = await readCounters(needs, { tx: db, orgId, now })
    const samples = steps.map(({ subject, time }) => {
      const { used, held } = sumOf(counters, subject, time)
      return { org_id: orgId, agent_id: subject, hour, spent_micro: used, held_micro: held }
    })
    await writeRows(db, [{ ...HOURS, rows: samples }])
  }
  // Once an hour, since it reads all counters of budgets.
  if (now % (60 * EVERY_MS) >= EVERY_MS) return
  await on<Tables>(db)
    .deleteFrom('spend_total')
    .where(inPart(part))
    .where('agent_id', '>=', '*')
    .where('agent_id', '<', '+')
    .where('window_id', '<', oldestWindow(now))
    .execute()
}

/** Reads the samples of a counter in hours, both included (`2026-11-20T08`); in order. */
export const readSamples = (
  db: AnyDatabase,
  orgId: string,
  subject: string,
  from: string,
  to: string,
): Promise<Pick<SpendHourRow, 'hour' | 'spent_micro' | 'held_micro'>[]> =>
  on<Tables>(db)
    .selectFrom('spend_hour')
    .select(['hour', 'spent_micro', 'held_micro'])
    .where('org_id', '=', orgId)
    .where('agent_id', '=', subject)
    .where('hour', '>=', from)
    .where('hour', '<=', to)
    .orderBy('hour')
    .execute()

const HOURS = {
  table: 'spend_hour',
  columns: {
    org_id: 'text',
    agent_id: 'text',
    hour: 'text',
    spent_micro: 'bigint',
    held_micro: 'bigint',
  },
  suffix:
    'on conflict (org_id, agent_id, hour) do update set spent_micro = excluded.spent_micro, held_micro = excluded.held_micro',
} as const

/** Samples every minute until closed. */
export function createSampler({ db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>): Periodic {
  const failed = (error: unknown, organizations?: readonly string[]) =>
    log.warn({ err: error, organizations }, 'sampling the spend failed')
  const sample = async () =>
    void (await eachPart(db, (part) => sampleHour(db, part, clock.now()), failed))
  return new Periodic(EVERY_MS, sample, failed)
}
