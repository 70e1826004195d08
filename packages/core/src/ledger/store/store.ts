import { sql } from 'kysely'
import type { AliasedExpression } from 'kysely'
import type { Database } from '../../db/open.ts'
import { dialectOf, statement, transactionSettings } from '../../db/portable.ts'
import type { BulkInsert } from '../../db/write-rows.ts'
import type { CoreTables, LedgerHeadRow } from '../../db/schema.ts'
import type { StoredEntry } from '../format/entry.ts'
import type { Linked } from '../format/link.ts'
import type { ReadTile } from '../format/proof.ts'
import { TILE_WIDTH } from '../format/merkle.ts'

type Db = Database<CoreTables>

/** Interval of stored checkpoints in entries; the first one of every minute is stored too. */
export const CHECKPOINT_EVERY = 256

const HEAD = 'select * from ledger_head where org_id = ?'
const selectHead = statement<LedgerHeadRow>(HEAD)
// Evaluated for the row before it is locked, so the wait for the lock is limited too, and on the node
// of the row: a cluster does not pass the settings of a session on.
const selectHeadForUpdate = statement<LedgerHeadRow>(
  `${HEAD} and ${transactionSettings('transaction')} <> '' for update`,
)

/**
 * Returns the head, locked until the transaction ends: the lock makes this transaction the only
 * writer of the organization. The same statement makes its commit durable, also behind a pooler in
 * transaction mode.
 */
export async function lockHead(tx: Db, orgId: string): Promise<LedgerHeadRow | undefined> {
  // SQLite's transactions already hold the only write lock.
  const select = dialectOf(tx) === 'postgres' ? selectHeadForUpdate : selectHead
  return (await select(tx, [orgId]))[0]
}

export const findHead = (db: Db, orgId: string): Promise<LedgerHeadRow | undefined> =>
  db.selectFrom('ledger_head').selectAll().where('org_id', '=', orgId).executeTakeFirst()

/** Returns the entry with the highest sequence number. */
export const findLastEntry = (
  db: Db,
  orgId: string,
): Promise<{ seq: number; hash: string } | undefined> =>
  db
    .selectFrom('ledger_entry')
    .select(['seq', 'hash'])
    .where('org_id', '=', orgId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()

const ENTRY_COLUMNS = {
  org_id: 'text',
  seq: 'bigint',
  prev_hash: 'text',
  hash: 'text',
  recorded_at: 'text',
  kind: 'text',
  commitment: 'text',
  salt: 'text',
  payload: 'text',
  agent_id: 'text',
  actor_id: 'text',
  action: 'text',
  decision: 'text',
} as const

const NODE_COLUMNS = { org_id: 'text', level: 'bigint', idx: 'bigint', hash: 'text' } as const

const CHECKPOINT_COLUMNS = { org_id: 'text', size: 'bigint', note: 'text' } as const

const HEAD_COLUMNS = {
  org_id: 'text',
  size: 'bigint',
  hash: 'text',
  recorded_at: 'text',
  frontier: 'text',
  note: 'text',
  origin: 'text',
  vkey: 'text',
  config_version: 'bigint',
  decided_month: 'text',
  decided: 'bigint',
} as const

const HEAD_MOVES = `on conflict (org_id) do update set size = excluded.size, hash = excluded.hash,
  recorded_at = excluded.recorded_at, frontier = excluded.frontier, note = excluded.note,
  config_version = excluded.config_version, decided_month = excluded.decided_month,
  decided = excluded.decided`

/**
 * Returns the rows for linked entries, completed inner nodes, a due checkpoint, and the new head.
 * With a null note they are not signed, and the head keeps its note.
 */
export function linkedRows(
  head: LedgerHeadRow,
  linked: Linked,
  recordedAt: string,
  note: string | null,
  configVersion: number,
): BulkInsert[] {
  const { org_id } = head
  const { size, hash, frontier } = linked
  const end = { size, hash, frontier, note: note ?? head.note, recorded_at: recordedAt }
  const moved = { ...head, ...end }
  const isDue = note !== null && isCheckpointDue(head, size, recordedAt)
  const due = isDue ? [{ org_id, size, note }] : []
  const nodes = linked.nodes.map((node) => ({ org_id, ...node }))
  return [
    { table: 'ledger_entry', columns: ENTRY_COLUMNS, rows: linked.entries.map(({ row }) => row) },
    { table: 'ledger_node', columns: NODE_COLUMNS, rows: nodes },
    { table: 'ledger_checkpoint', columns: CHECKPOINT_COLUMNS, rows: due },
    {
      table: 'ledger_head',
      columns: HEAD_COLUMNS,
      rows: [{ ...moved, config_version: configVersion }],
      suffix: HEAD_MOVES,
    },
  ]
}

const isCheckpointDue = (head: LedgerHeadRow, size: number, at: string): boolean =>
  Math.floor(size / CHECKPOINT_EVERY) > Math.floor(head.size / CHECKPOINT_EVERY) ||
  minuteOf(at) !== minuteOf(head.recorded_at)

/** Truncates a time (RFC 3339) to its minute. */
export const minuteOf = (time: string): string => time.slice(0, 16)

async function readLeaves(db: Db, orgId: string, from: number, to: number): Promise<string[]> {
  const rows = await db
    .selectFrom('ledger_entry')
    .select('hash')
    .where('org_id', '=', orgId)
    .where('seq', '>=', from)
    .where('seq', '<', to)
    .orderBy('seq')
    .execute()
  return rows.map((row) => row.hash)
}

/** Reads the tiles of a ledger for `proof.ts`. */
export const tilesOf =
  (db: Db, orgId: string): ReadTile =>
  (level, index, width, skip) => {
    const from = index * TILE_WIDTH + skip
    const to = index * TILE_WIDTH + width
    return level === 0 ? readLeaves(db, orgId, from, to) : readNodes(db, orgId, level, from, to)
  }

async function readNodes(
  db: Db,
  orgId: string,
  level: number,
  from: number,
  to: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('ledger_node')
    .select('hash')
    .where('org_id', '=', orgId)
    .where('level', '=', level)
    .where('idx', '>=', from)
    .where('idx', '<', to)
    .orderBy('idx')
    .execute()
  return rows.map((row) => row.hash)
}

/** Above the size of any payload, in bytes. */
export const MAX_READ_BYTES = 1024 * 1024

/**
 * Selects a column of text, or an empty text if it has more than `most` bytes. A modified database
 * must not be able to exhaust the memory of the reading thread.
 */
export function bounded<Name extends string>(
  name: Name,
  most: number,
): AliasedExpression<string | null, Name> {
  const column = sql.ref(name)
  return sql<
    string | null
  >`case when octet_length(${column}) > ${sql.lit(most)} then '' else ${column} end`.as(name)
}

/** The columns of an entry except its payload. */
export const BESIDE_PAYLOAD = [
  'org_id',
  'seq',
  'prev_hash',
  'hash',
  'recorded_at',
  'kind',
  'commitment',
  'salt',
] as const

/** The columns of an entry itself, without the copies. */
export const STORED = [...BESIDE_PAYLOAD, 'payload'] as const

/** Returns up to `limit` entries from `fromSeq` on, in order. */
export async function readEntries(
  db: Db,
  orgId: string,
  fromSeq: number,
  limit: number,
): Promise<StoredEntry[]> {
  return db
    .selectFrom('ledger_entry')
    .select(STORED)
    .where('org_id', '=', orgId)
    .where('seq', '>=', fromSeq)
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** Returns the entries of a range, in order. */
export const readRange = (db: Db, orgId: string, range: SeqRange): Promise<StoredEntry[]> =>
  inRange(db, orgId, range).select(STORED).orderBy('seq').execute()

/** Returns the sizes of up to `limit` entries of a range, in order. */
export const readSizes = (
  db: Db,
  orgId: string,
  range: SeqRange,
  limit: number,
): Promise<EntrySize[]> =>
  inRange(db, orgId, range).select(['seq', BYTES]).orderBy('seq').limit(limit).execute()

export const inRange = (db: Db, orgId: string, { from, to }: SeqRange) =>
  db
    .selectFrom('ledger_entry')
    .where('org_id', '=', orgId)
    .where('seq', '>=', from)
    .where('seq', '<', to)

/** Returns the stored checkpoint of exactly that size, or the newest one. */
export function findCheckpoint(
  db: Db,
  orgId: string,
  size?: number,
): Promise<{ size: number; note: string } | undefined> {
  const all = db
    .selectFrom('ledger_checkpoint')
    .select(['size', 'note'])
    .where('org_id', '=', orgId)
  const wanted = size === undefined ? all.orderBy('size', 'desc') : all.where('size', '=', size)
  return wanted.limit(1).executeTakeFirst()
}

/** Bytes of payloads per read: a millisecond or two. */
const PIECE_BYTES = 128 * 1024
const PIECE_ENTRIES = 250

/** The size of a payload as a column. Neither database reads the payload for it. */
export const BYTES = sql<number | null>`octet_length(payload)`.as('bytes')

/** Half-open range of sequence numbers. */
export interface SeqRange {
  readonly from: number
  readonly to: number
}

/** An entry and the bytes of its payload; null if erased. */
export interface EntrySize {
  readonly seq: number
  readonly bytes: number | null
}

/** Splits entries, in order of their numbers, into ranges that can be read at once. */
export function slicesOf(sized: readonly EntrySize[]): SeqRange[] {
  const pieces: SeqRange[] = []
  let piece: EntrySize[] = []
  let bytes = 0
  const close = () => {
    const seqs = piece.map(({ seq }) => seq)
    if (seqs.length > 0) pieces.push({ from: Math.min(...seqs), to: Math.max(...seqs) + 1 })
  }
  for (const one of sized) {
    bytes += one.bytes ?? 0
    if (piece.length > 0 && (bytes > PIECE_BYTES || piece.length >= PIECE_ENTRIES)) {
      close()
      piece = []
      bytes = one.bytes ?? 0
    }
    piece.push(one)
  }
  close()
  return pieces
}
