import { lstatSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { sql } from 'kysely'
import { writeWholeFile } from '../base/whole-file.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * Writes a consistent copy of a SQLite database to a new file while others write, checks it and
 * syncs it to disk.
 */
export async function copySqlite(db: AnyDatabase, path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false }))
    throw new Error(`${path} already exists and is not replaced`)
  // Contexts of decisions are confidential.
  await writeWholeFile(path, async (partial) => {
    await sql`vacuum into ${partial}`.execute(db)
    const file = await open(partial, 'r+')
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  })
}

/** Throws if a SQLite database is damaged. */
export async function checkSqlite(db: AnyDatabase): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db)
  const [first] = rows
  if (first?.integrity_check !== 'ok')
    throw new Error(`the copy is damaged: ${first?.integrity_check ?? 'no answer'}`)
}
