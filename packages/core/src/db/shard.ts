import { CompiledQuery, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { isDistributed } from './distributed.ts'
import type { Database } from './open.ts'
import type { AnyDatabase } from './portable.ts'
import { ShardTexts } from './shard-texts.ts'

/** The tables with the rows of an organization, on its node. */
export interface Shard {
  /** Of the head of the ledger; the other tables have the same place. */
  readonly id: number
  readonly texts: ShardTexts
  /** Takes the lock of its place; the parameter is `holdBy`. */
  readonly hold: string
  readonly holdBy: string | number
}

/** The shard is not here, or not only here. */
export class ShardMoved extends Error {
  override name = 'ShardMoved'
  /** SQLSTATE `object_not_in_prerequisite_state`: another way to the database may work. */
  readonly code = '55000'
}

/** Returns true if the locks of this version of Citus are known. */
export async function mayUseShards(db: AnyDatabase): Promise<boolean> {
  if (!(await isDistributed(db))) return false
  const { rows } = await sql`select from pg_extension
    where extname = 'citus' and extversion like '13.2-%'`.execute(db)
  return rows.length > 0
}

/** Returns the shard of an organization on this node; null if it cannot be used directly. */
export async function findShard<T>(node: Database<T>, orgId: string): Promise<Shard | null> {
  const { rows } = await sql<{ id: number; name: string; shard: string; is_owner: boolean }>`
    select head.shardid as id, s.logicalrelid::text as name,
      shard_name(s.logicalrelid, s.shardid) as shard, pg_has_role(c.relowner, 'usage') as is_owner
    from pg_dist_shard head
    join pg_class c on c.oid = head.logicalrelid
    join pg_dist_partition placed on placed.logicalrelid = head.logicalrelid
    join pg_dist_partition p on p.colocationid = placed.colocationid
    join pg_dist_shard s on s.logicalrelid = p.logicalrelid
      and s.shardminvalue = head.shardminvalue and s.shardmaxvalue = head.shardmaxvalue
    where head.shardid = get_shard_id_for_distribution_column('ledger_head', ${orgId}::text)
    order by name`.execute(node)
  const [first] = rows
  if (!first) return null
  const shard = {
    id: first.id,
    texts: textsOf(rows.map((row) => [row.name, row.shard])),
    ...(first.is_owner ? { hold: LOCK, holdBy: first.id } : { hold: WRITE, holdBy: orgId }),
  }
  try {
    await node.transaction().execute((tx) => holdShard(tx, shard))
    return shard
  } catch (error) {
    if (error instanceof ShardMoved) return null
    throw error
  }
}

const MAX_SHARDS = 1_000
const known = new LRUCache<string, ShardTexts>({ max: MAX_SHARDS })

/** The organizations of a shard share its texts. */
function textsOf(tables: readonly (readonly [name: string, shard: string])[]): ShardTexts {
  const key = JSON.stringify(tables)
  const texts = known.get(key) ?? new ShardTexts(new Map(tables))
  known.set(key, texts)
  return texts
}

const SHARE_LOCK = 5
/** Citus lets only the owner of a table call it. */
const LOCK = `select lock_shard_metadata(${SHARE_LOCK}, array[$1::bigint])`
/** A write to a distributed table takes the lock too. */
const WRITE = 'update ledger_head set size = size where org_id = $1 and size < 0'
// After the lock, in a snapshot of its own: a move that held the lock is visible.
const IS_HERE = `select count(*) = 1
    and bool_and(groupid = (select groupid from pg_dist_local_group) and shardstate = 1)
    and current_setting('citus.enable_local_execution') = 'on'
    and current_setting('transaction_isolation') = 'read committed' as is_here
  from pg_dist_placement where shardid = $1`

/**
 * Keeps a shard on this node until the transaction ends, as Citus does for a write to a distributed
 * table: moves and splits take the same lock exclusively, before they copy the last rows, and hold it
 * until the new place is committed. Throws `ShardMoved` if the shard is elsewhere. `tx` is a
 * transaction on the distributed tables.
 *
 * Take locks of rows before, as statements for distributed tables do: otherwise two transactions
 * and a waiting move can wait for each other.
 */
export async function holdShard(tx: AnyDatabase, { id, hold, holdBy }: Shard): Promise<void> {
  const isHere = await tx.getExecutor().provideConnection(async (connection) => {
    // Sent together.
    const [, { rows }] = await Promise.all([
      connection.executeQuery(CompiledQuery.raw(hold, [holdBy])),
      connection.executeQuery<{ is_here: boolean }>(CompiledQuery.raw(IS_HERE, [id])),
    ])
    return rows[0]?.is_here === true
  })
  if (!isHere) throw new ShardMoved(`shard ${id} is not on this node`)
}
