import { isoTime, Periodic } from '@remit/core/base'
import { eachPart, inPart, on } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { sql } from 'kysely'
import type { Tables } from '../tables/schema.ts'

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

/** Samples every minute until closed. */
export function createSampler({ db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>): Periodic {
  const failed = (error: unknown, organizations?: readonly string[]) =>
    log.warn({ err: error, organizations }, 'sampling the spend failed')
  const sample = async () =>
    void (await eachPart(db, (part) => sampleHour(db, part, clock.now()), failed))
  return new Periodic(EVERY_MS, sample, failed)
}
