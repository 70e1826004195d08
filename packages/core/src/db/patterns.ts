import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * Returns the SQL condition for a pattern in which `*` is any run of characters and everything else
 * is literal and case-sensitive. SQLite's LIKE ignores case, so it gets GLOB.
 */
export function likePattern(db: AnyDatabase, pattern: string): RawBuilder<boolean> {
  if (dialectOf(db) === 'sqlite')
    return sql`glob ${pattern.replace(/[?[]/g, (special) => `[${special}]`)}`
  return sql`like ${pattern.replace(/[\\%_]/g, (special) => `\\${special}`).replaceAll('*', '%')}`
}
