import { sql } from 'kysely'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCutRow, LedgerEntryRow } from '../../db/schema.ts'
import { GENESIS_KIND, parsePayload } from '../format/entry.ts'
import { decodeFrontier, EMPTY_FRONTIER, encodeFrontier } from '../format/merkle.ts'
import type { Frontier } from '../format/merkle.ts'
import { frontierAt } from '../format/proof.ts'
import { STORED, tilesOf } from './store.ts'

type Db = Database<CoreTables>

/** Of these, the newest. */
const MAX_ROTATIONS = 1_000

/** Where a pruned ledger begins; undefined where it begins at genesis. */
export const findCut = (db: Db, orgId: string): Promise<LedgerCutRow | undefined> =>
  db.selectFrom('ledger_cut').selectAll().where('org_id', '=', orgId).executeTakeFirst()

/** What proofs need of the entries that were pruned. Throws a RangeError for a cut that is none. */
export const cutFrontier = (cut: LedgerCutRow | undefined): Frontier =>
  cut === undefined ? EMPTY_FRONTIER : decodeFrontier(cut.size, cut.frontier)

/** The state of a ledger after its first `size` entries, from where others can go on. */
export interface LedgerPoint {
  readonly hash: string
  readonly recorded_at: string
  /** As `encodeFrontier` writes it. */
  readonly frontier: string
  /** The key that signs this size and larger ones; null after a rotation, which parts the two. */
  readonly vkey: string | null
}

/**
 * The state after `size` > 0 entries, as stored. Throws a RangeError when rows are missing that it is
 * made of.
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
  if (!last) throw new RangeError(`There is no entry ${size - 1}`)
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

function textIn(payload: string | null, name: string): string | null {
  const text = parsePayload(payload ?? '')?.data[name]
  return typeof text === 'string' ? text : null
}

/** The origin that the ledger's first entry names or, where that was pruned, the record of the pruning. */
export async function recordedOrigin(db: Db, orgId: string): Promise<string | null> {
  const cut = await findCut(db, orgId)
  const [entry] = await (cut
    ? ownEntries(db, orgId, 'ledger.pruned', { last: 1 })
    : ownEntries(db, orgId, GENESIS_KIND, { below: 1, last: 1 }))
  return textIn(entry?.payload ?? null, 'origin')
}

/** The verifier keys that a ledger itself names: the first one that is known, and those it was handed to. */
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

/** Up to `last` of the ledger's own entries of a kind, the newest first. */
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
    // Word by word the condition of the index `ledger_entry_own`.
    .where(sql<boolean>`kind >= 'ledger.' and kind < 'ledger/'`)
    .where('kind', '=', kind)
    .orderBy('seq', 'desc')
    .limit(last)
    .execute()
