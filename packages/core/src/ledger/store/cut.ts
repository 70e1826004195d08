import { sql } from 'kysely'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCutRow, LedgerEntryRow } from '../../db/schema.ts'
import { GENESIS_KIND, isIntact, parsePayload } from '../format/entry.ts'
import type { StoredEntry } from '../format/entry.ts'
import { decodeFrontier, EMPTY_FRONTIER, encodeFrontier } from '../format/merkle.ts'
import type { Frontier } from '../format/merkle.ts'
import { frontierAt } from '../format/proof.ts'
import { STORED, tilesOf, BESIDE_PAYLOAD, bounded, MAX_READ_BYTES } from './store.ts'
import { parseCarried } from '../format/carried.ts'

type Db = Database<CoreTables>

/** The newest ones. */
export const MAX_ROTATIONS = 1_000

/** Returns the cut of a pruned ledger; undefined if it starts at genesis. */
export const findCut = (db: Db, orgId: string): Promise<LedgerCutRow | undefined> =>
  db.selectFrom('ledger_cut').selectAll().where('org_id', '=', orgId).executeTakeFirst()

/**
 * Returns the frontier of the pruned entries, for proofs. Throws a RangeError for an invalid cut.
 */
export const cutFrontier = (cut: LedgerCutRow | undefined): Frontier =>
  cut === undefined ? EMPTY_FRONTIER : decodeFrontier(cut.size, cut.frontier)

/** The state of a ledger after its first `size` entries; a continuation can start from it. */
export interface LedgerPoint {
  readonly hash: string
  readonly recorded_at: string
  /** In the format of `encodeFrontier`. */
  readonly frontier: string
  /**
   * The key that signs this size and larger ones; null directly after a rotation, where they
   * differ.
   */
  readonly vkey: string | null
}

/**
 * Returns the state after `size` > 0 entries from the stored rows. Throws a RangeError if rows are
 * missing.
 */
export async function pointAt(
  db: Db,
  orgId: string,
  size: number,
  cut: LedgerCutRow | undefined,
): Promise<LedgerPoint> {
  if (size === cut?.size) return cut
  const last = await db
    .selectFrom('ledger_entry')
    .select(['hash', 'recorded_at'])
    .where('org_id', '=', orgId)
    .where('seq', '=', size - 1)
    .executeTakeFirst()
  if (!last) throw new RangeError(`The ledger has no entry ${size - 1}`)
  const frontier = await frontierAt(tilesOf(db, orgId), size, cutFrontier(cut))
  const vkey = await keyAt(db, orgId, size, cut)
  return { ...last, frontier: encodeFrontier(frontier), vkey }
}

async function keyAt(
  db: Db,
  orgId: string,
  size: number,
  cut: LedgerCutRow | undefined,
): Promise<string | null> {
  const [rotation] = await ownEntries(db, orgId, 'ledger.key_rotated', { below: size, last: 1 })
  if (rotation) return rotation.seq === size - 1 ? null : textIn(rotation.payload, 'new_vkey')
  if (cut) return cut.vkey
  const [genesis] = await ownEntries(db, orgId, GENESIS_KIND, { below: 1, last: 1 })
  return textIn(genesis?.payload ?? null, 'vkey')
}

/** Returns a text of the data of an entry; null if it has none. */
export function textIn(payload: string | null, name: string): string | null {
  const text = parsePayload(payload ?? '')?.data[name]
  return typeof text === 'string' ? text : null
}

/**
 * Returns the origin from genesis or, if that was pruned, from the record of the pruning; null if that
 * entry is missing or was changed.
 */
export async function recordedOrigin(db: Db, orgId: string): Promise<string | null> {
  const cut = await findCut(db, orgId)
  const [entry] = await (cut
    ? ownEntries(db, orgId, 'ledger.pruned', { last: 1 })
    : ownEntries(db, orgId, GENESIS_KIND, { below: 1, last: 1 }))
  return entry && isIntact(entry) ? textIn(entry.payload, 'origin') : null
}

/**
 * Returns the verifier keys that a ledger itself names: the first known one and those of rotations.
 */
export async function namedKeys(db: Db, orgId: string): Promise<string[]> {
  const cut = await findCut(db, orgId)
  const [genesis] = await ownEntries(db, orgId, GENESIS_KIND, { below: 1, last: 1 })
  const rotations = await ownEntries(db, orgId, 'ledger.key_rotated', { last: MAX_ROTATIONS })
  const named = [
    cut?.vkey,
    textIn(genesis?.payload ?? null, 'vkey'),
    ...rotations.flatMap(({ payload }) => [
      textIn(payload, 'old_vkey'),
      textIn(payload, 'new_vkey'),
    ]),
  ]
  return [...new Set(named.filter((vkey) => typeof vkey === 'string'))]
}

type OwnEntry = Pick<LedgerEntryRow, (typeof STORED)[number]>

/** Returns up to `last` of the ledger's own entries of a kind, newest first. */
export const ownEntries = (
  db: Db,
  orgId: string,
  kind: `ledger.${string}`,
  { below = Number.MAX_SAFE_INTEGER, last }: { readonly below?: number; readonly last: number },
): Promise<OwnEntry[]> =>
  db
    .selectFrom('ledger_entry')
    .select(STORED)
    .where('org_id', '=', orgId)
    .where('seq', '<', below)
    // Must match the condition of the index `ledger_entry_own` literally.
    .where(sql<boolean>`kind >= 'ledger.' and kind < 'ledger/'`)
    .where('kind', '=', kind)
    .orderBy('seq', 'desc')
    .limit(last)
    .execute()

type ErasureDb = Database<CoreTables>

/** Of up to 256 KiB each. */
const PAGE = 100

/** Returns the existing entries of these numbers, in order. */
export const readSome = (
  db: ErasureDb,
  orgId: string,
  seqs: readonly number[],
): Promise<StoredEntry[]> =>
  db
    .selectFrom('ledger_entry')
    .select(STORED)
    .where('org_id', '=', orgId)
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute()

/** Deletes payload and salt of entries, and the copies of payload fields. */
export async function clearPayloads(
  db: ErasureDb,
  orgId: string,
  seqs: readonly number[],
): Promise<void> {
  const nothing = { salt: null, payload: null }
  const copies = { agent_id: null, actor_id: null, action: null, decision: null }
  await db
    .updateTable('ledger_entry')
    .set({ ...nothing, ...copies })
    .where('org_id', '=', orgId)
    .where('seq', 'in', seqs)
    .execute()
}

/** Returns the `state.carried` entries of a range that are not erased, page by page. */
export async function* carriedEntries(
  db: ErasureDb,
  orgId: string,
  { from, below = Number.MAX_SAFE_INTEGER }: { readonly from: number; readonly below?: number },
): AsyncGenerator<StoredEntry> {
  for (let after = from - 1; ;) {
    const rows = await db
      .selectFrom('ledger_entry')
      .select([...BESIDE_PAYLOAD, bounded('payload', MAX_READ_BYTES)])
      .where('org_id', '=', orgId)
      .where('seq', '>', after)
      .where('seq', '<', below)
      // Must match the condition of the index `ledger_entry_carried` literally.
      .where(sql<boolean>`kind = 'state.carried'`)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    for (const row of rows) if (row.payload !== null) yield row
    after = rows.at(-1)?.seq ?? after
    if (rows.length < PAGE) return
  }
}

/**
 * Returns all entries with the same content: carried copies and their originals, without the given
 * ones.
 */
export async function sameContent(
  db: ErasureDb,
  orgId: string,
  entries: readonly StoredEntry[],
): Promise<number[]> {
  const given = new Set(entries.map(({ seq }) => seq))
  const origins = new Set(entries.map((entry) => parseCarried(entry)?.seq ?? entry.seq))
  const found = [...origins]
  for await (const entry of carriedEntries(db, orgId, { from: 0 })) {
    const carried = parseCarried(entry)
    if (carried && carried.payload !== null && origins.has(carried.seq)) found.push(entry.seq)
  }
  return found.filter((seq) => !given.has(seq))
}
