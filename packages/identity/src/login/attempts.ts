import { hash, randomBytes } from 'node:crypto'
import { isoTime, on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { LoginAttemptRow } from '../tables/people.ts'
import type { Tables } from '../tables/schema.ts'
import type { Challenge } from './provider.ts'

const ATTEMPT_MS = 10 * 60 * 1000

const hashOf = (cookie: string): string => hash('sha256', cookie, 'hex')

/** Stores an attempt and returns the cookie that binds it to a browser. */
export async function beginAttempt(
  db: AnyDatabase,
  challenge: Challenge,
  orgId: string | null,
  now: number,
): Promise<string> {
  const cookie = randomBytes(32).toString('base64url')
  const expires_at = isoTime(now + ATTEMPT_MS)
  await on<Tables>(db)
    .insertInto('login_attempt')
    .values({ ...challenge, hash: hashOf(cookie), org_id: orgId, expires_at })
    .execute()
  await on<Tables>(db).deleteFrom('login_attempt').where('expires_at', '<=', isoTime(now)).execute()
  return cookie
}

/** Uses an attempt up; undefined if it was used, is too old, or never was. */
export const takeAttempt = (
  db: AnyDatabase,
  cookie: string,
  now: number,
): Promise<LoginAttemptRow | undefined> =>
  on<Tables>(db)
    .deleteFrom('login_attempt')
    .where('hash', '=', hashOf(cookie))
    .where('expires_at', '>', isoTime(now))
    .returningAll()
    .executeTakeFirst()
