import type { Receipt } from '@remit/contract'
import type { LedgerEntryRow, LedgerHeadRow } from '../../db/schema.ts'
import { CARRIED_KIND } from './carried.ts'
import type { Draft } from './draft.ts'
import { commitmentOf, entryHash, headerOf, payloadText } from './entry.ts'
import type { EntryPayload } from './entry.ts'
import { MerkleTree, decodeFrontier, encodeFrontier, rootOf, TILE_WIDTH } from './merkle.ts'

/**
 * Maximum bytes of a payload text: two free-form objects of 64 KiB and the additions of the server.
 */
const MAX_PAYLOAD_BYTES = 255 * 1024

/** Larger, because any other payload must fit into the entry that carries it over. */
const MAX_CARRIED_BYTES = 256 * 1024

/** An entry with its position, its payload and the receipt for the caller of its work. */
export interface LinkedEntry {
  readonly row: LedgerEntryRow
  readonly content: EntryPayload
  readonly receipt: Receipt
}

/** Drafts linked to the end of a chain; nothing is written yet. */
export interface Linked {
  readonly entries: readonly LinkedEntry[]
  /** Completed inner nodes, from level 1. */
  readonly nodes: readonly TreeNode[]
  readonly size: number
  readonly hash: string
  readonly root: string
  readonly frontier: string
}

/** The root of the `idx`-th complete subtree of 256^level leaves. */
export interface TreeNode {
  readonly level: number
  readonly idx: number
  readonly hash: string
}

type End = Pick<LedgerHeadRow, 'org_id' | 'size' | 'hash' | 'frontier'>

/**
 * Links drafts to the chain after `end`, all at the time `recordedAt`, which must not be before
 * that of the last entry. `newSalt` returns 32 hex digits per call. Pure: clock and randomness are
 * arguments.
 */
export function linkEntries(
  end: End,
  drafts: readonly Draft[],
  recordedAt: string,
  newSalt: () => string,
): Linked {
  const nodes: TreeNode[] = []
  const tree = new MerkleTree(decodeFrontier(end.size, end.frontier), (level, hash) => {
    const earlier = nodes.filter((node) => node.level === level).length
    nodes.push({ level, idx: Math.floor(end.size / TILE_WIDTH ** level) + earlier, hash })
  })
  const entries: LinkedEntry[] = []
  // All receipts of a commit are for its end.
  const checkpoint = { size: end.size, root: '' }
  let { hash } = end
  for (const draft of drafts) {
    const place = {
      org_id: end.org_id,
      seq: end.size + entries.length,
      prev_hash: hash,
      recorded_at: recordedAt,
    }
    const entry = linkOne(place, draft, newSalt(), checkpoint)
    entries.push(entry)
    hash = entry.row.hash
    tree.append(hash)
  }
  const frontier = tree.frontier()
  const { size } = frontier
  const root = rootOf(frontier.nodes)
  Object.assign(checkpoint, { size, root })
  return { entries, nodes, size, hash, root, frontier: encodeFrontier(frontier) }
}

type Place = Pick<LedgerEntryRow, 'org_id' | 'seq' | 'prev_hash' | 'recorded_at'>

function linkOne(
  place: Place,
  draft: Draft,
  salt: string,
  checkpoint: Receipt['checkpoint'],
): LinkedEntry {
  const { kind, actor, data } = draft
  const { action = null, agent_id = null, decision = null, reason = null, resource = null } = draft
  const content: EntryPayload = { action, actor, agent_id, data, decision, reason, resource }
  const payload = payloadText(content)
  const most = kind === CARRIED_KIND ? MAX_CARRIED_BYTES : MAX_PAYLOAD_BYTES
  // A character has at most three bytes, so only long texts need counting.
  if (payload.length * 3 > most && Buffer.byteLength(payload) > most) {
    throw new RangeError(`The payload of ${kind} exceeds ${most} bytes`)
  }
  const header = { ...place, kind, commitment: commitmentOf(salt, payload) }
  const hash = entryHash(headerOf(header))
  const row = { ...header, hash, salt, payload, agent_id, actor_id: actor.id, action, decision }
  return { row, content, receipt: { seq: row.seq, hash, checkpoint } }
}
