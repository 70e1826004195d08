import { findCut, invalid, isoTime, on } from '@remit/core'
import type { AnyDatabase, Database } from '@remit/core'
import type { Tables } from '../schema.ts'
import { readCarried } from '../worker/carried-rows.ts'

/**
 * Throws `invalid_request` where the ledger has nothing of before the end of a period: there was no
 * organization yet, so a report would have to make up its name and its plan.
 */
export async function checkBegun(
  db: AnyDatabase,
  orgId: string,
  to: number,
  now: number,
): Promise<void> {
  const begin = await beginningOf(on<Tables>(db), orgId, isoTime(to))
  if (begin !== null && begin >= isoTime(to))
    throw invalid(
      'to',
      `must be later than ${begin}, when the ledger begins; ${isoTime(now)} reports on what there is up to now`,
    )
}

/** The first time that the ledger tells of; null where its beginning is missing, which a report must show. */
async function beginningOf(
  db: Database<Tables>,
  orgId: string,
  to: string,
): Promise<string | null> {
  const cut = await findCut(db, orgId)
  if (!cut) return genesisTime(db, orgId)
  // Rarely asked: of what was pruned, only what was carried over says when it was.
  if (cut.recorded_at < to) return cut.recorded_at
  const { rows } = await readCarried(db, orgId)
  return rows[0]?.recorded_at ?? cut.recorded_at
}

async function genesisTime(db: Database<Tables>, orgId: string): Promise<string | null> {
  const genesis = await db
    .selectFrom('ledger_entry')
    .select('recorded_at')
    .where('org_id', '=', orgId)
    .where('seq', '=', 0)
    .executeTakeFirst()
  return genesis?.recorded_at ?? null
}
