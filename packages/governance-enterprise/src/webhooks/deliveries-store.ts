import type { Database } from '@remit/core/db/open'
import { deleteInBatches, dialectOf, inPart, on } from '@remit/core/db'
import type { AnyDatabase, BulkInsert, CoreTables, Part } from '@remit/core/db'
import { sql } from 'kysely'
import type { Tables } from '../tables/schema.ts'
import type { DeliveryRow } from '../tables/webhooks.ts'

const COLUMNS = {
  org_id: 'text',
  webhook_id: 'text',
  seq: 'bigint',
  event: 'text',
  state: 'text',
  attempts: 'bigint',
  created_at: 'text',
  due_at: 'text',
} as const

/** Rows for new messages. */
export const deliveryRows = (
  rows: readonly Pick<DeliveryRow, keyof typeof COLUMNS>[],
): BulkInsert => ({ table: 'webhook_delivery', columns: COLUMNS, rows })

type Place = Pick<DeliveryRow, 'org_id' | 'webhook_id' | 'seq'>

export interface ClaimOptions {
  readonly part: Part
  readonly now: string
  /** The end of this process's lease on the attempt. */
  readonly leaseEnd: string
  /** The number of candidates; `choose` selects from them. */
  readonly among: number
  readonly choose: (due: readonly Place[]) => readonly Place[]
  /** Organizations without free capacity. */
  readonly except: readonly string[]
}

/**
 * Claims due deliveries for this process, oldest first, and counts the attempt. Concurrent
 * processes skip each other's rows.
 */
export async function claimDue(
  db: Database<CoreTables>,
  claim: ClaimOptions,
): Promise<DeliveryRow[]> {
  const { now, leaseEnd: due_at, among, choose } = claim
  // Most polls find nothing and need no transaction.
  if (!(await dueRows(db, claim).limit(1).executeTakeFirst())) return []
  return db.transaction().execute(async (tx) => {
    const locked = dueRows(tx, claim).limit(among).modifyEnd(skipLocked(tx))
    const begun = { due_at, attempted_at: now, http_status: null, error: null }
    const taken: DeliveryRow[] = []
    for (const place of choose(await locked.execute())) {
      const row = await on<Tables>(tx)
        .updateTable('webhook_delivery')
        .set((of) => ({ ...begun, attempts: of('attempts', '+', 1) }))
        .where('org_id', '=', place.org_id)
        .where('webhook_id', '=', place.webhook_id)
        .where('seq', '=', place.seq)
        .returningAll()
        .executeTakeFirstOrThrow()
      taken.push(row)
    }
    return taken
  })
}

function dueRows(db: AnyDatabase, { part, now, except }: ClaimOptions) {
  const query = on<Tables>(db)
    .selectFrom('webhook_delivery')
    .select(['org_id', 'webhook_id', 'seq'])
    .where(inPart(part))
    .where('state', '=', 'waiting')
    .where('due_at', '<=', now)
    .orderBy('due_at')
  return except.length === 0 ? query : query.where('org_id', 'not in', except)
}

/** SQLite's transactions already hold the only write lock. */
const skipLocked = (db: AnyDatabase) =>
  dialectOf(db) === 'postgres' ? sql`for update skip locked` : sql``

/** Stores the result of an attempt, unless another has started since or the webhook is gone. */
export async function finishAttempt(
  db: AnyDatabase,
  { org_id, webhook_id, seq, attempts }: DeliveryRow,
  result: Partial<
    Pick<DeliveryRow, 'state' | 'due_at' | 'finished_at' | 'http_status' | 'error' | 'history'>
  >,
): Promise<void> {
  await on<Tables>(db)
    .updateTable('webhook_delivery')
    .set(result)
    .where('org_id', '=', org_id)
    .where('webhook_id', '=', webhook_id)
    .where('seq', '=', seq)
    .where('attempts', '=', attempts)
    .where('state', '=', 'waiting')
    .execute()
}

/** Fails all waiting deliveries of a webhook. */
export async function giveUpAll(
  db: AnyDatabase,
  orgId: string,
  webhookId: string,
  result: Pick<DeliveryRow, 'finished_at' | 'error'>,
): Promise<void> {
  await on<Tables>(db)
    .updateTable('webhook_delivery')
    .set({ state: 'failed', ...result })
    .where('org_id', '=', orgId)
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'waiting')
    .execute()
}

export async function countWaiting(db: AnyDatabase, orgId: string, id: string): Promise<number> {
  const { count } = await on<Tables>(db)
    .selectFrom('webhook_delivery')
    .select((of) => of.fn.countAll().as('count'))
    .where('org_id', '=', orgId)
    .where('webhook_id', '=', id)
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The delivery with the latest attempt. */
export const findLastAttempted = (
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<DeliveryRow | undefined> =>
  on<Tables>(db)
    .selectFrom('webhook_delivery')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('webhook_id', '=', id)
    .where('attempted_at', 'is not', null)
    .orderBy('attempted_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()

/** Deletes the deliveries of a part that finished before a time, until `signal` aborts. */
export const forgetFinished = (
  db: AnyDatabase,
  part: Part,
  before: string,
  signal: AbortSignal,
): Promise<number> =>
  deleteInBatches(db, part, signal, {
    table: 'webhook_delivery',
    key: ['org_id', 'webhook_id', 'seq'],
    where: sql`finished_at is not null and finished_at < ${before}`,
  })

/** Deliveries of a webhook, newest first, before a sequence number. */
export async function listDeliveries(
  db: AnyDatabase,
  orgId: string,
  webhookId: string,
  { limit, before }: { readonly limit: number; readonly before: number | undefined },
): Promise<DeliveryRow[]> {
  let query = on<Tables>(db)
    .selectFrom('webhook_delivery')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('webhook_id', '=', webhookId)
    .orderBy('seq', 'desc')
    .limit(limit)
  if (before !== undefined) query = query.where('seq', '<', before)
  return query.execute()
}

/** Makes a delivery due at once, also one that has ended; undefined if there is none. */
export const sendAgain = (
  db: AnyDatabase,
  { org_id, webhook_id, seq }: Place,
  now: string,
): Promise<DeliveryRow | undefined> =>
  on<Tables>(db)
    .updateTable('webhook_delivery')
    .set({ state: 'waiting', due_at: now, finished_at: null })
    .where('org_id', '=', org_id)
    .where('webhook_id', '=', webhook_id)
    .where('seq', '=', seq)
    .returningAll()
    .executeTakeFirst()
