import type { Transaction } from 'kysely'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerHeadRow } from '../../db/schema.ts'
import { holdShard } from '../../db/shard.ts'
import type { Shard } from '../../db/shard.ts'
import { onShard } from '../../db/shard-transaction.ts'
import { lockHead } from '../store/store.ts'

/** Where a transaction of the ledger runs. */
export interface Place {
  readonly db: Database<CoreTables>
  /** The tables of the organization, if `db` leads to their node. */
  readonly shard?: Shard | null
}

/** Locks the head of a ledger, and holds its shard; `tx` uses the tables of the shard. */
export async function lockLedger(
  opened: Transaction<CoreTables>,
  orgId: string,
  { shard }: Place,
): Promise<{ readonly tx: Transaction<CoreTables>; readonly head: LedgerHeadRow | undefined }> {
  if (!shard) return { tx: opened, head: await lockHead(opened, orgId) }
  const tx = onShard(opened, shard)
  const head = await lockHead(tx, orgId)
  await holdShard(opened, shard)
  return { tx, head }
}
