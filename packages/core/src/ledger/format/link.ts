import type { LedgerEntryRow, LedgerHeadRow } from '../../db/schema.ts'
import { CARRIED_KIND } from './carried.ts'
import type { EntryDraft } from './draft.ts'
import { commitmentOf, entryHash, headerOf, payloadText } from './entry.ts'
import type { EntryPayload } from './entry.ts'
import { MerkleTree, decodeFrontier, encodeFrontier } from './merkle.ts'
import { TILE_WIDTH } from './tiles.ts'

/**
 * Maximum bytes of a payload text: two free-form objects of 64 KiB and the additions of the server.
 */
const MAX_PAYLOAD_BYTES = 255 * 1024

/** Larger, because any other payload must fit into the entry that carries it over. */
const MAX_CARRIED_BYTES = 256 * 1024

/** An entry with its position and its payload. */
export interface LinkedEntry {
  readonly row: LedgerEntryRow
  readonly content: EntryPayload
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
  drafts: readonly EntryDraft[],
  recordedAt: string,
  newSalt: () => string,
): Linked {
  const nodes: TreeNode[] = []
  const tree = new MerkleTree(decodeFrontier(end.size, end.frontier), (level, hash) => {
    const earlier = nodes.filter((node) => node.level === level).length
    nodes.push({ level, idx: Math.floor(end.size / TILE_WIDTH ** level) + earlier, hash })
  })
  let prev = end.hash
  const entries = drafts.map((draft, i) => {
    const content = contentOf(draft)
    const place = {
      org_id: end.org_id,
      seq: end.size + i,
      prev_hash: prev,
      recorded_at: recordedAt,
    }
    const row = linkOne(place, draft.kind, newSalt(), content)
    prev = row.hash
    tree.append(row.hash)
    return { row, content }
  })
  return {
    entries,
    nodes,
    size: tree.size,
    hash: prev,
    root: tree.root(),
    frontier: encodeFrontier(tree.frontier()),
  }
}

/** Returns the payload of a draft with every member. */
const contentOf = (draft: EntryDraft): EntryPayload => ({
  action: draft.action ?? null,
  actor: draft.actor,
  agent_id: draft.agent_id ?? null,
  data: draft.data,
  decision: draft.decision ?? null,
  reason: draft.reason ?? null,
  resource: draft.resource ?? null,
})

type Place = Pick<LedgerEntryRow, 'org_id' | 'seq' | 'prev_hash' | 'recorded_at'>

function linkOne(place: Place, kind: string, salt: string, content: EntryPayload): LedgerEntryRow {
  const { org_id, seq, prev_hash, recorded_at } = place
  const payload = payloadText(content)
  const most = kind === CARRIED_KIND ? MAX_CARRIED_BYTES : MAX_PAYLOAD_BYTES
  // A character has at most three bytes, so only long texts need counting.
  if (payload.length * 3 > most && Buffer.byteLength(payload) > most) {
    throw new RangeError(`The payload of ${kind} exceeds ${most} bytes`)
  }
  const commitment = commitmentOf(salt, payload)
  return {
    org_id,
    seq,
    prev_hash,
    hash: entryHash(headerOf({ org_id, seq, prev_hash, recorded_at, kind, commitment })),
    recorded_at,
    kind,
    commitment,
    salt,
    payload,
    agent_id: content.agent_id,
    actor_id: content.actor.id,
    action: content.action,
    decision: content.decision,
  }
}
