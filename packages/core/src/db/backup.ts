import { sql } from 'kysely'
import { writeNewFile } from '../base/whole-file.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * Writes a consistent copy of a SQLite database to a new file while others write, and syncs it to disk. Contexts
 * of decisions are confidential, so that only its owner can read it.
 */
export const copySqlite = (db: AnyDatabase, path: string): Promise<unknown> =>
  writeNewFile(path, (partial) => sql`vacuum into ${partial}`.execute(db))

/** Throws if a SQLite database is damaged. */
export async function checkSqlite(db: AnyDatabase): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db)
  const [first] = rows
  if (first?.integrity_check !== 'ok')
    throw new Error(`the copy is damaged: ${first?.integrity_check ?? 'no answer'}`)
}
