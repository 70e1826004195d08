import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * From now on SQLite overwrites what this connection deletes, instead of only forgetting where it is.
 * PostgreSQL has nothing like it: dead rows are there until they are vacuumed.
 */
export async function overwriteDeleted(db: AnyDatabase): Promise<void> {
  if (dialectOf(db) === 'sqlite') await sql`pragma secure_delete = on`.execute(db)
}

/**
 * Runs work that replaces rows, and has SQLite overwrite what they were. `emptyLog` must follow.
 * PostgreSQL keeps dead rows until they are vacuumed.
 */
export async function overwriting<T>(db: AnyDatabase, work: () => Promise<T>): Promise<T> {
  if (dialectOf(db) === 'postgres') return work()
  const { rows } = await sql<{ secure_delete: number }>`pragma secure_delete`.execute(db)
  await overwriteDeleted(db)
  try {
    return await work()
  } finally {
    // It makes every later deletion slower.
    if (rows[0]?.secure_delete === 0) await sql`pragma secure_delete = off`.execute(db)
  }
}

const ATTEMPTS = 5

/**
 * Empties SQLite's write-ahead log, which keeps pages as they were; false when another process reads
 * all the time and it stays. True on PostgreSQL, where there is nothing to empty from here.
 */
export async function emptyLog(db: AnyDatabase): Promise<boolean> {
  if (dialectOf(db) === 'postgres') return true
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db)
    if (rows[0]?.busy === 0) return true
    await setTimeout(200)
  }
  return false
}
