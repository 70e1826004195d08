import { isoTime } from '@remit/core/base'
import { bulkInsert, Cleanup, deleteInBatches, orgTable } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { sql } from 'kysely'
import type { Tables } from '../../tables/schema.ts'
import type { JudgeCall } from './plan.ts'
import type { VerdictShape } from './verdict.ts'

type CacheDeps = Pick<Deps, 'db' | 'clock' | 'log'>

const DAY_MS = 24 * 60 * 60 * 1000
const VERDICT_DAYS = 7
const COUNT_DAYS = 35
const COLUMNS = { org_id: 'text', cache_key: 'text', verdict: 'text', created_at: 'text' } as const

const { list } = orgTable<Tables, 'judge_verdict'>('judge_verdict', 'cache_key')

const daysAgo = ({ clock }: CacheDeps, days: number): string => isoTime(clock.now() - days * DAY_MS)

/** Gives calls their stored verdicts of the last seven days, if they still fit. */
export async function readCached(
  deps: CacheDeps,
  orgId: string,
  calls: readonly JudgeCall[],
  shape: VerdictShape,
): Promise<void> {
  const rows = await list(deps.db, orgId, { where: { cache_key: calls.map(({ key }) => key) } })
  const oldest = daysAgo(deps, VERDICT_DAYS)
  const valid = rows.filter(({ created_at }) => created_at > oldest)
  const texts = new Map(valid.map(({ cache_key, verdict }) => [cache_key, verdict]))
  for (const call of calls) call.verdict = shape.readCached(texts.get(call.key))
}

/** Stores new verdicts. A failure is logged, and the verdict is requested again next time. */
export async function storeVerdicts(
  { db, clock, log }: CacheDeps,
  org_id: string,
  calls: readonly JudgeCall[],
): Promise<void> {
  const created_at = isoTime(clock.now())
  const rows = calls.flatMap(({ key: cache_key, verdict }) =>
    verdict ? { org_id, cache_key, verdict: JSON.stringify(verdict), created_at } : [],
  )
  // Equal results of a request have equal keys, and a statement writes a row only once.
  const byKey = new Map(rows.map((row) => [row.cache_key, row]))
  const replacing = `on conflict (org_id, cache_key) do update
    set verdict = excluded.verdict, created_at = excluded.created_at`
  await bulkInsert(db, 'judge_verdict', COLUMNS, [...byKey.values()], replacing).catch(
    (error: unknown) => log.error({ err: error }, 'storing judge verdicts failed'),
  )
}

/** Deletes old verdicts, and old counts of the daily limit. */
export const judgeCleanup = (deps: CacheDeps): Cleanup =>
  new Cleanup(deps, 'judge verdicts', async (part, signal) => {
    await deleteInBatches(deps.db, part, signal, {
      table: 'judge_day',
      key: ['org_id', 'day'],
      where: sql`day < ${daysAgo(deps, COUNT_DAYS).slice(0, 10)}`,
    })
    await deleteInBatches(deps.db, part, signal, {
      table: 'judge_verdict',
      key: ['org_id', 'cache_key'],
      where: sql`created_at <= ${daysAgo(deps, VERDICT_DAYS)}`,
    })
  })
