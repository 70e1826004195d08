import type { Plan, Role } from '@remit/contract'
import { isoTime } from '../base/clock.ts'
import type { Db } from '../db/open.ts'
import { orgTable } from '../db/org-table.ts'
import { inPart } from '../db/parts.ts'
import type { Part } from '../db/parts.ts'
import type { CoreTables, SessionRow } from '../db/schema.ts'

/** A session ends twelve hours after it began. */
const LIFETIME_MS = 12 * 60 * 60 * 1000
/** A session ends after an hour without a request. */
const IDLE_MS = 60 * 60 * 1000
/** The last request is stored to the minute, so that few requests write. */
const SEEN_STEP_MS = 60 * 1000

/** A live session with the data of a caller; that of the key where it acts with one. */
export interface SessionHolder extends SessionRow {
  readonly keyRole: Role | null
  readonly keyPerson: string | null
  readonly plan: Plan
  readonly configVersion: number | null
}

const holders = (db: Db, now: number) =>
  db
    .selectFrom('console_session as s')
    .innerJoin('organization as o', 'o.id', 's.org_id')
    .leftJoin('ledger_head as h', 'h.org_id', 's.org_id')
    .leftJoin('ingest_key as k', (join) =>
      join
        .onRef('k.org_id', '=', 's.org_id')
        .onRef('k.id', '=', 's.key_id')
        .on('k.revoked_at', 'is', null),
    )
    .where('s.created_at', '>', isoTime(now - LIFETIME_MS))
    .where('s.seen_at', '>', isoTime(now - IDLE_MS))
    .where((row) => row.or([row('s.person_id', 'is not', null), row('k.id', 'is not', null)]))
    .selectAll('s')
    .select([
      'k.role as keyRole',
      'k.person as keyPerson',
      'o.plan',
      'h.config_version as configVersion',
    ])

/** Returns the live sessions of an organization among `hashes` at a time (milliseconds). */
export async function findSessions(
  db: Db,
  orgId: string,
  hashes: readonly string[],
  now: number,
): Promise<SessionHolder[]> {
  const rows = await holders(db, now)
    .where('s.org_id', '=', orgId)
    .where('s.hash', 'in', hashes)
    .execute()
  return rows as SessionHolder[]
}

/** Sessions that one key or person can have; a further one ends the oldest. */
const MAX_SESSIONS = 20

/** Stores a session, and ends the oldest ones of its holder beyond the limit. */
export async function insertSession(db: Db, row: SessionRow): Promise<void> {
  await db.insertInto('console_session').values(row).execute()
  const { org_id, key_id, person_id } = row
  const oldest = db
    .selectFrom('console_session')
    .select('hash')
    .where('org_id', '=', org_id)
    .where('key_id', key_id === null ? 'is' : '=', key_id)
    .where('person_id', person_id === null ? 'is' : '=', person_id)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    // SQLite has no offset without a limit.
    .limit(1_000)
    .offset(MAX_SESSIONS)
  await db
    .deleteFrom('console_session')
    .where('org_id', '=', org_id)
    .where('hash', 'in', oldest)
    .execute()
}

/** Stores the time of a request, unless the last one was less than a minute ago. */
export async function touchSession(db: Db, session: SessionRow, now: number): Promise<void> {
  if (now - Date.parse(session.seen_at) < SEEN_STEP_MS) return
  await db
    .updateTable('console_session')
    .set({ seen_at: isoTime(now) })
    .where('org_id', '=', session.org_id)
    .where('hash', '=', session.hash)
    .where('seen_at', '<', isoTime(now))
    .execute()
}

export const { remove: deleteSession } = orgTable<CoreTables, 'console_session'>(
  'console_session',
  'hash',
)

/** Ends all sessions of a person, within a change that takes rights away. */
export async function endSessionsOf(db: Db, orgId: string, personId: string): Promise<void> {
  await db
    .deleteFrom('console_session')
    .where('org_id', '=', orgId)
    .where('person_id', '=', personId)
    .execute()
}

/** Deletes sessions that have ended by age. */
export async function forgetSessions(db: Db, part: Part, now: number): Promise<void> {
  await db
    .deleteFrom('console_session')
    .where(inPart(part))
    .where('created_at', '<=', isoTime(now - LIFETIME_MS))
    .execute()
}
