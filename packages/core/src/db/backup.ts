import { existsSync, linkSync, realpathSync, renameSync, rmSync } from 'node:fs'
import SqliteDatabase from 'better-sqlite3'
import { sql } from 'kysely'
import { syncFolder, writeNewFile, writeWholeFile } from '../base/files.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * Writes a consistent copy of a SQLite database to a new file while others write, and syncs it to disk. Contexts
 * of decisions are confidential, so that only its owner can read it. Throws `invalid_request` if the file exists,
 * unless it is to be replaced.
 */
export const copySqlite = (db: AnyDatabase, path: string, isReplaced = false): Promise<unknown> =>
  (isReplaced ? writeWholeFile : writeNewFile)(path, (partial) =>
    sql`vacuum into ${partial}`.execute(db),
  )

/** Throws if a SQLite database is damaged. */
export async function checkSqlite(db: AnyDatabase): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db)
  const [first] = rows
  if (first?.integrity_check !== 'ok')
    throw new Error(`the copy is damaged: ${first?.integrity_check ?? 'no answer'}`)
}

/** A SQLite database in use by another process, or whose place was taken. */
export class DatabaseInUse extends Error {
  constructor(path: string) {
    super(`${path} is in use: stop all servers and commands that use it`)
    this.name = 'DatabaseInUse'
  }
}

/** The files of a SQLite database. The log of another database would be taken for its own. */
const ENDS = ['', '-wal', '-shm'] as const

/**
 * Puts a database that `write` writes, durably, in the place of another one and its log. The replaced files are
 * renamed to the returned path; null if there was none. Throws `DatabaseInUse` if any process has the
 * database open, and leaves it as it was if anything fails.
 */
export async function replaceSqlite(
  given: string,
  suffix: string,
  write: (restored: string) => Promise<unknown>,
): Promise<string | null> {
  const path = existsSync(given) ? realpathSync(given) : given
  const restored = `${path}.${suffix}.restored`
  const replaced = `${path}.${suffix}.replaced`
  const lock = lockSqlite(path)
  try {
    await write(restored)
    const ends = ENDS.filter((end) => existsSync(path + end))
    // The database first: without its log, it would be served as an older one.
    for (const end of ends) renameSync(path + end, replaced + end)
    try {
      // Not a rename, which would replace the database of a server that has started since.
      linkSync(restored, path)
    } catch (error) {
      if (existsSync(path)) throw new DatabaseInUse(path)
      for (const end of ends) renameSync(replaced + end, path + end)
      throw error
    }
    return ends.includes('') ? replaced : null
  } finally {
    lock?.close()
    rmSync(restored, { force: true })
    await syncFolder(path)
  }
}

/**
 * Keeps every other process from opening a database until the connection is closed; null if there is
 * none. A damaged one cannot be locked and is not in use.
 */
function lockSqlite(path: string): SqliteDatabase.Database | null {
  if (!existsSync(path)) return null
  const file = new SqliteDatabase(path, { timeout: 0 })
  try {
    file.pragma('locking_mode = EXCLUSIVE')
    file.exec('begin exclusive')
  } catch (error) {
    if (isDamage(error)) return file
    file.close()
    throw /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error)) ? new DatabaseInUse(path) : error
  }
  return file
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code)

/** Returns true for an error of SQLite about the contents of its files. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))
