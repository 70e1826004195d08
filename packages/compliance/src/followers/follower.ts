import { randomUUID } from 'node:crypto'
import { Periodic } from '@remit/core/base'
import { eachPart, inPart, on } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Database } from '@remit/core/db/open'
import type { Deps } from '@remit/core/module'
import { sql } from 'kysely'
import type { Tables } from '../tables/schema.ts'

interface FollowerOptions {
  /** The name of the lease. */
  readonly name: string
  readonly everyMs: number
  /** The number of missed runs after which another process takes over; at least 2. */
  readonly missed: number
  /** The log message of an error of the work. */
  readonly failure: string
}

/**
 * Periodic work behind the ledgers, off the decision path, in the one process of the installation
 * that holds the lease.
 */
export abstract class LedgerFollower {
  protected readonly db: Database<Tables>
  readonly #deps: Pick<Deps, 'clock' | 'log'>
  readonly #options: FollowerOptions
  readonly #lease: Lease
  readonly #runs: Periodic
  #heldUntil = -Infinity
  #closed = false

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log'>, options: FollowerOptions) {
    const { name, everyMs, missed } = options
    this.db = on<Tables>(deps.db)
    this.#deps = deps
    this.#options = options
    this.#lease = new Lease(this.db, name, randomUUID(), missed * everyMs)
    this.#runs = new Periodic(everyMs, () => this.#run(), this.warn)
  }

  /** One run, whether this process holds the lease or not. */
  protected abstract work(): Promise<void>

  protected get isClosed(): boolean {
    return this.#closed
  }

  /** The first run is after one period: a server that stops soon after its start leaves no trace. */
  start(): void {
    this.#runs.start()
  }

  /** One run, if this process holds the lease; for the timer and tests. */
  look(): Promise<void> {
    return this.#runs.run()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#runs.close()
    await this.#lease
      .release()
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error, lease: this.#options.name }, 'releasing a lease failed'),
      )
  }

  /** Returns whether to continue. Renews the lease once a period during long work. */
  protected readonly holds = async (): Promise<boolean> => {
    const now = this.#deps.clock.now()
    if (this.#closed) return false
    if (now < this.#heldUntil) return true
    const isMine = await this.#lease.hold(now)
    if (isMine) this.#heldUntil = now + this.#options.everyMs
    return isMine
  }

  /** Calls `work` for each part of the database; an error of one part does not delay the others. */
  protected async eachPart(work: (part: Part) => Promise<void>): Promise<void> {
    await eachPart(this.db, work, this.warn)
  }

  /** Calls `count` for each ledger with entries that are not counted, while the lease is held. */
  protected behind(table: Progress, count: (behind: Behind) => Promise<void>): Promise<void> {
    return this.eachPart((part) => eachBehind(this.db, table, part, this.holds, count))
  }

  protected readonly warn = (error: unknown, organizations?: readonly string[]): void =>
    this.#deps.log.warn({ err: error, organizations }, this.#options.failure)

  #run(): Promise<void> {
    // Each run asks for the lease.
    this.#heldUntil = Math.min(this.#heldUntil, this.#deps.clock.now())
    return this.work()
  }
}

/**
 * The exclusive right of one process of the installation to a job, for a limited time. Clocks may
 * differ, so two processes may hold it for a moment; each write must itself prevent duplicates.
 */
export class Lease {
  readonly #db: Database<Tables>
  readonly #name: string
  readonly #holder: string
  readonly #ms: number
  #hasHeld = false

  constructor(db: Database<Tables>, name: string, holder: string, ms: number) {
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

/** Tables with the first entry of each ledger that is not counted yet. They have the same columns. */
type Progress = 'stat_progress' | 'usage_progress'

const PIECE = 100

/** A ledger with entries that are not counted yet. */
export interface Behind {
  readonly orgId: string
  /** The first of them; null if nothing was counted before. */
  readonly nextSeq: number | null
}

/** Calls `count` for each ledger of a part with entries that are not counted, while `holds`. */
async function eachBehind(
  db: Database<Tables>,
  table: Progress,
  part: Part,
  holds: () => Promise<boolean>,
  count: (behind: Behind) => Promise<void>,
): Promise<void> {
  let after = ''
  while (await holds()) {
    const found = await db
      .selectFrom('ledger_head as h')
      .leftJoin(`${table as 'stat_progress'} as p`, 'p.org_id', 'h.org_id')
      .select(['h.org_id as orgId', 'p.next_seq as nextSeq'])
      .where(inPart(part, 'h.org_id'))
      .where('h.org_id', '>', after)
      .where((row) =>
        row.or([row('p.next_seq', 'is', null), row('p.next_seq', '<', row.ref('h.size'))]),
      )
      .orderBy('h.org_id')
      .limit(PIECE)
      .execute()
    for (const one of found) if (await holds()) await count(one)
    after = found.at(-1)?.orgId ?? after
    if (found.length < PIECE) return
  }
}

/** Moves the progress in the transaction of the counts; false if another process did. */
export async function moveProgress(
  tx: Database<Tables>,
  table: Progress,
  { orgId, nextSeq }: Behind,
  next: number,
): Promise<boolean> {
  if (nextSeq === null) {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto(table as 'stat_progress')
      .values({ org_id: orgId, next_seq: next })
      .onConflict((conflict) => conflict.column('org_id').doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows === 1n
  }
  const { numUpdatedRows } = await tx
    .updateTable(table as 'stat_progress')
    .set({ next_seq: next })
    .where('org_id', '=', orgId)
    .where('next_seq', '=', nextSeq)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
