import type { LedgerEntryRow, LedgerHeadRow } from '../db/schema.ts'
import type { EntryDraft } from './draft.ts'
import { commitmentOf, entryHash, headerOf, payloadText } from './entry.ts'
import { createTree, decodeFrontier, encodeFrontier } from './merkle.ts'

/** Bytes of a payload's text at most: two free-form objects of 64 KiB and what the server adds. */
export const MAX_PAYLOAD_BYTES = 256 * 1024

/** What linking some drafts to the end of a chain gives; nothing is written yet. */
export interface Linked {
  readonly rows: readonly LedgerEntryRow[]
  /** Roots of tiles that closed: entries of the tiles above, from level 1. */
  readonly closed: readonly ClosedTile[]
  readonly size: number
  readonly hash: string
  readonly root: string
  readonly frontier: string
}

export interface ClosedTile {
  readonly level: number
  readonly hash: string
}

type End = Pick<LedgerHeadRow, 'org_id' | 'size' | 'hash' | 'frontier'>

/**
 * Gives drafts their places after `end`, all at the time `recordedAt`, which must not be earlier
 * than the last entry's. `newSalt` gives 32 hex digits a call. Pure: clock and randomness come in.
 */
export function linkEntries(
  end: End,
  drafts: readonly EntryDraft[],
  recordedAt: string,
  newSalt: () => string,
): Linked {
  const closed: ClosedTile[] = []
  const tree = createTree(decodeFrontier(end.size, end.frontier), (level, hash) =>
    closed.push({ level, hash }),
  )
  let prev = end.hash
  const rows = drafts.map((draft, i) => {
    const row = linkOne(end.org_id, end.size + i, prev, recordedAt, newSalt(), draft)
    prev = row.hash
    tree.append(row.hash)
    return row
  })
  return {
    rows,
    closed,
    size: tree.size,
    hash: prev,
    root: tree.root(),
    frontier: encodeFrontier(tree.frontier()),
  }
}

function linkOne(
  org_id: string,
  seq: number,
  prev_hash: string,
  recorded_at: string,
  salt: string,
  draft: EntryDraft,
): LedgerEntryRow {
  const {
    kind,
    actor,
    agent_id = null,
    action = null,
    resource = null,
    decision = null,
    reason = null,
    data,
  } = draft
  const payload = payloadText({ action, actor, agent_id, data, decision, reason, resource })
  if (payload.length > MAX_PAYLOAD_BYTES)
    throw new RangeError(`The payload of ${kind} is larger than ${MAX_PAYLOAD_BYTES}`)
  const commitment = commitmentOf(salt, payload)
  const hash = entryHash(headerOf({ org_id, seq, prev_hash, recorded_at, kind, commitment }))
  return {
    org_id,
    seq,
    prev_hash,
    hash,
    recorded_at,
    kind,
    commitment,
    salt,
    payload,
    agent_id,
    actor_id: actor.id,
    action,
    decision,
  }
}
