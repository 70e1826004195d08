import { sql } from 'kysely'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCutRow, LedgerEntryRow } from '../../db/schema.ts'
import { GENESIS_KIND, isIntact, parsePayload } from '../format/entry.ts'
import { decodeFrontier, EMPTY_FRONTIER, encodeFrontier } from '../format/merkle.ts'
import type { Frontier } from '../format/merkle.ts'
import { frontierAt } from '../format/proof.ts'
import { STORED, tilesOf } from './store.ts'

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
