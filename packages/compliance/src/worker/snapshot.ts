import { openDatabase } from '@remit/core/db/open'
import type { Database } from '@remit/core/db/open'
import { dialectOf } from '@remit/core/db'
import { sql } from 'kysely'
import type { Tables } from '../tables/schema.ts'

type Db = Database<Tables>

/** Nobody waits for the connection itself: the work of a thread has time limits of its own. */
const CONNECT_MS = 30_000
/** It may compute between two pages, and holds no lock. */
const IDLE = sql`set local idle_in_transaction_session_timeout = '60s'`

/** Opens the database with one read-only connection and passes `read` one snapshot of it. */
export async function readSnapshot<T>(url: string, read: (db: Db) => Promise<T>): Promise<T> {
  const db: Db = openDatabase(url, { readonly: true, poolSize: 1, connectMs: CONNECT_MS })
  try {
    if (dialectOf(db) === 'postgres') {
      const snapshot = db.transaction().setIsolationLevel('repeatable read')
      return await snapshot.setAccessMode('read only').execute(async (tx) => {
        await IDLE.execute(tx)
        return read(tx)
      })
    }
    return await db.connection().execute((one) => inOne(one, read))
  } finally {
    await db.destroy()
  }
}

/** Plain `begin`: our SQLite transactions acquire the write lock, which this connection may not. */
async function inOne<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  await sql`begin`.execute(db)
  try {
    return await read(db)
  } finally {
    await sql`rollback`.execute(db)
  }
}
