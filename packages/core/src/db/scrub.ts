import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { dialectOf } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * Makes SQLite overwrite deleted data on this connection. PostgreSQL has no equivalent: dead rows
 * remain until a vacuum.
 */
export async function overwriteDeleted(db: AnyDatabase): Promise<void> {
  if (dialectOf(db) === 'sqlite') await sql`pragma secure_delete = on`.execute(db)
}

/**
 * Runs work that replaces rows and makes SQLite overwrite the old ones. `emptyLog` must follow.
 * PostgreSQL keeps dead rows until a vacuum.
 */
export async function overwriting<T>(db: AnyDatabase, work: () => Promise<T>): Promise<T> {
  if (dialectOf(db) === 'postgres') return work()
  const { rows } = await sql<{ secure_delete: number }>`pragma secure_delete`.execute(db)
  await overwriteDeleted(db)
  try {
    return await work()
  } finally {
    // Overwriting slows down every deletion.
    if (rows[0]?.secure_delete === 0) await sql`pragma secure_delete = off`.execute(db)
  }
}

const ATTEMPTS = 5

/**
 * Truncates SQLite's write-ahead log, which contains old pages. Returns false if another process
 * keeps reading the database. True on PostgreSQL, where nothing is to be done.
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
