import { Failure, isoTime } from '@remit/core/base'
import type { Database } from '@remit/core/db/open'
import { bulkInsert, inPart } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import type { Jobs, Tally } from '../jobs/jobs.ts'
import type { Tables } from '../tables/schema.ts'
import { LedgerFollower, moveProgress } from '../followers/follower.ts'
import type { Behind } from '../followers/follower.ts'
import { DECIDED, FactEntry } from '../facts/index.ts'
import { Counter } from './count.ts'

const EVERY_MS = 5_000
/** The number of failed runs after which another process takes over. */
const MISSED = 4
const FORGET_MS = 60 * 60 * 1000

/**
 * Keeps the counts of decisions behind the ledgers, off the decision path: the process of the
 * installation that holds the lease reads new entries in a worker thread.
 */
export class StatKeeper extends LedgerFollower {
  readonly #clock: Deps['clock']
  readonly #jobs: Jobs
  #forgotAt = -Infinity

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log' | 'settings'>, jobs: Jobs) {
    super(deps, {
      name: 'stats',
      everyMs: Math.min(EVERY_MS, deps.settings.watchEveryMs ?? EVERY_MS),
      missed: MISSED,
      failure: 'counting decisions failed',
    })
    this.#clock = deps.clock
    this.#jobs = jobs
  }

  protected async work(): Promise<void> {
    await this.behind('stat_progress', (behind) => this.#count(behind))
    const now = this.#clock.now()
    if (this.isClosed || now - this.#forgotAt < FORGET_MS) return
    this.#forgotAt = now
    await this.eachPart((part) => forgetMinutes(this.db, part, now))
  }

  /** Counts until the end of the ledger, a part at a time. */
  async #count(behind: Behind): Promise<void> {
    const { orgId } = behind
    try {
      let { nextSeq } = behind
      while (!this.isClosed) {
        const from: number = nextSeq ?? 0
        const counted = await this.#jobs.tally(orgId, from)
        if (counted.nextSeq === from) return
        if (!(await addTally(this.db, { orgId, nextSeq }, counted))) return
        nextSeq = counted.nextSeq
      }
    } catch (error) {
      // The threads are busy with reports: the next run counts.
      if (error instanceof Failure && error.code === 'jobs_busy') return
      throw error
    }
  }
}

type Db = Database<Tables>

const COLUMNS = {
  org_id: 'text',
  size: 'text',
  dimension: 'text',
  bucket: 'text',
  key: 'text',
  count: 'bigint',
  micro: 'bigint',
} as const
const SUM = `on conflict (org_id, size, dimension, bucket, key) do update
  set count = stat_bucket.count + excluded.count, micro = stat_bucket.micro + excluded.micro`

/**
 * Adds counts together with the progress. False if another process has counted these entries: then
 * nothing is added.
 */
function addTally(db: Db, behind: Behind, { rows, nextSeq: next }: Tally): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    if (!(await moveProgress(tx, 'stat_progress', behind, next))) return false
    const counted = rows.map((row) => ({ org_id: behind.orgId, ...row }))
    await bulkInsert(tx, 'stat_bucket', COLUMNS, counted, SUM)
    return true
  })
}

const MINUTES_KEPT_MS = 7 * 24 * 60 * 60 * 1000

/** Deletes the minutes of more than seven days ago; their hours stay. */
async function forgetMinutes(db: Db, part: Part, now: number): Promise<void> {
  await db
    .deleteFrom('stat_bucket')
    .where(inPart(part))
    .where('size', '=', 'minute')
    .where('bucket', '<', isoTime(now - MINUTES_KEPT_MS).slice(0, 16))
    .execute()
}

/** Entries of one job: some tenths of a second. */
const MOST = 20_000
const PAGE = 1_000

/** Counts the decisions of a ledger from an entry on; for a worker thread. */
export async function tally(db: Database<Tables>, orgId: string, fromSeq: number): Promise<Tally> {
  const counter = new Counter()
  let nextSeq = fromSeq
  while (nextSeq < fromSeq + MOST) {
    const rows = await db
      .selectFrom('ledger_entry')
      .select(['seq', 'kind', 'recorded_at', 'payload'])
      .where('org_id', '=', orgId)
      .where('seq', '>=', nextSeq)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    for (const row of rows) {
      if (row.kind === DECIDED) counter.add(new FactEntry(row, Date.parse(row.recorded_at)))
      nextSeq = row.seq + 1
    }
    if (rows.length < PAGE) break
  }
  return { rows: counter.rows(), nextSeq }
}
