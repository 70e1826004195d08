import { existsSync } from 'node:fs'
import { chmod, open } from 'node:fs/promises'
import { sql } from 'kysely'
import type { AnyDatabase } from './portable.ts'

/**
 * Writes a consistent copy of a SQLite database to a new file while others write, checks it and
 * syncs it to disk.
 */
export async function copySqlite(db: AnyDatabase, path: string): Promise<void> {
  if (existsSync(path)) throw new Error(`${path} already exists and is not replaced`)
  await sql`vacuum into ${path}`.execute(db)
  // Contexts of decisions are confidential.
  await chmod(path, 0o600)
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Throws if a SQLite database is damaged. */
export async function checkSqlite(db: AnyDatabase): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db)
  const [first] = rows
  if (first?.integrity_check !== 'ok')
    throw new Error(`the copy is damaged: ${first?.integrity_check ?? 'no answer'}`)
}
