import type { Database } from '@remit/core/db/open'
import { sql } from 'kysely'
import type { WatchTables } from '../tables/watch.ts'

type Db = Database<WatchTables>

/**
 * The exclusive right of one process of the installation to a job, for a limited time. Clocks may
 * differ, so two processes may hold it for a moment; each write must itself prevent duplicates.
 */
export class Lease {
  readonly #db: Db
  readonly #name: string
  readonly #holder: string
  readonly #ms: number
  #hasHeld = false

  constructor(db: Db, name: string, holder: string, ms: number) {
    this.#db = db
    this.#name = name
    this.#holder = holder
    this.#ms = ms
  }

  /** Takes or renews the lease; returns false while another process holds it. */
  async hold(now: number): Promise<boolean> {
    const { rows } = await sql<{ holder: string }>`
      insert into process_lease (name, holder, expires_at)
      values (${this.#name}, ${this.#holder}, ${now + this.#ms})
      on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
      where process_lease.holder = excluded.holder or process_lease.expires_at <= ${now}
      returning holder`.execute(this.#db)
    this.#hasHeld ||= rows.length > 0
    return rows.length > 0
  }

  /** Releases the lease before its end, if this object ever held it. */
  async release(): Promise<void> {
    if (!this.#hasHeld) return
    await this.#db
      .deleteFrom('process_lease')
      .where('name', '=', this.#name)
      .where('holder', '=', this.#holder)
      .execute()
  }
}
