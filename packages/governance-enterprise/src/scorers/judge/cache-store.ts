import { bulkInsert, on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import { sql } from 'kysely'
import type { Tables } from '../../tables/schema.ts'
import type { VerdictRow } from '../../tables/judges.ts'

const KEYS_AT_ONCE = 500

/** Verdicts stored after `since`, by key. */
export async function findVerdicts(
  db: AnyDatabase,
  orgId: string,
  keys: readonly string[],
  since: string,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
    const rows = await on<Tables>(db)
      .selectFrom('judge_verdict')
      .select(['cache_key', 'verdict'])
      .where('org_id', '=', orgId)
      .where('cache_key', 'in', keys.slice(start, start + KEYS_AT_ONCE))
      .where('created_at', '>', since)
      .execute()
    for (const row of rows) found.set(row.cache_key, row.verdict)
  }
  return found
}

/** Stores verdicts and replaces older ones. */
export const putVerdicts = (db: AnyDatabase, rows: readonly VerdictRow[]): Promise<void> =>
  bulkInsert(
    db,
    'judge_verdict',
    { org_id: 'text', cache_key: 'text', verdict: 'text', created_at: 'text' },
    rows,
    `on conflict (org_id, cache_key) do update
      set verdict = excluded.verdict, created_at = excluded.created_at`,
  )

/** Deletes some verdicts stored before a time; returns how many. */
export async function forgetVerdicts(
  db: AnyDatabase,
  before: string,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`delete from judge_verdict
    where (org_id, cache_key) in (select org_id, cache_key from judge_verdict
      where created_at <= ${before} limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
