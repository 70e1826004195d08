import { readData } from '@remit/contract/entries'
import type { Transaction } from 'kysely'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import { openCheckpoint, parseVerifierKey } from '../ledger/format/note.ts'
import { treeRoot } from '../ledger/format/proof.ts'
import { cutFrontier, findCut, ownEntries } from '../ledger/store/cut.ts'
import { parsePayload } from '../ledger/format/entry.ts'
import { missingHead } from '../ledger/write/head-guard.ts'
import { findHead, tilesOf } from '../ledger/store/store.ts'
import type { Writer } from '../ledger/write/writer.ts'
import { OPERATOR } from './administration.ts'
import { SYSTEM } from '../caller/caller.ts'

export interface LedgerRecovery {
  /** Position of the entry that records the loss. */
  readonly seq: number
  /** The signed entries that are missing. */
  readonly lost: { readonly from_seq: number; readonly to_seq: number }
  readonly checkpoint: { readonly size: number; readonly root: string; readonly note: string }
  readonly reason: string
  /** The key that signed it, which the ledger itself may no longer know. */
  readonly vkey: string
}

export interface RecoverOptions {
  /** An external signed checkpoint. */
  readonly checkpoint: string
  readonly reason: string
  /** The key of that checkpoint, if it differs from that of the restored ledger. */
  readonly vkey?: string
}

/**
 * Records that a ledger was restored from a backup and ends before a checkpoint that it once
 * signed. Throws `NoteError` or `CheckpointError` for a checkpoint of another ledger, and a failure
 * if no entries are lost or if the ledger contradicts the checkpoint.
 */
export function recoverLedger(
  writer: Writer,
  orgId: string,
  options: RecoverOptions,
): Promise<LedgerRecovery> {
  return writer.change(orgId, OPERATOR, async ({ tx }) => {
    const { reason } = options
    const { from_seq, checkpoint, vkey } = await lostSince(tx, orgId, options)
    const lost = { from_seq, to_seq: checkpoint.size - 1 }
    const data = { checkpoint, lost, reason, vkey }
    return {
      entries: [{ kind: 'ledger.recovered', actor: SYSTEM, data }],
      reply: ([recorded]) => ({ seq: recorded?.row.seq ?? from_seq, ...data }),
    }
  })
}

async function lostSince(
  tx: Transaction<CoreTables>,
  orgId: string,
  { checkpoint: note, vkey: given }: RecoverOptions,
): Promise<Pick<LedgerRecovery, 'checkpoint' | 'vkey'> & { from_seq: number }> {
  const head = await findHead(tx, orgId)
  if (!head) throw missingHead()
  const vkey = given ?? head.vkey
  const { size, root } = openCheckpoint(note, parseVerifierKey(vkey), head.origin)
  if (size > head.size) return { from_seq: head.size, checkpoint: { size, root, note }, vkey }
  const cut = await findCut(tx, orgId)
  if (size < (cut?.size ?? 0)) {
    throw fail(
      'ledger_pruned',
      `The checkpoint covers ${size} entries, but the entries below ${cut?.size} were pruned`,
    )
  }
  const ours = await treeRoot(tilesOf(tx, orgId), size, cutFrontier(cut))
  if (ours === root) {
    throw fail(
      'invalid_request',
      `No entries are lost: the ledger has all ${size} entries of the checkpoint`,
    )
  }
  const recorded = await recordOfLoss(tx, orgId, size)
  throw recorded !== undefined
    ? fail('invalid_request', `The loss is already recorded as entry ${recorded}`)
    : fail(
        'invalid_request',
        `The ledger has ${head.size} entries and contradicts the checkpoint of size ${size}: entries were changed, not only lost`,
      )
}

const LOOKED_THROUGH = 100

/** Returns the entry that records the loss of a history with a tree of this size. */
async function recordOfLoss(
  tx: Transaction<CoreTables>,
  orgId: string,
  size: number,
): Promise<number | undefined> {
  const entries = await ownEntries(tx, orgId, 'ledger.recovered', { last: LOOKED_THROUGH })
  return entries.find(({ payload }) => {
    const { lost } = readData('ledger.recovered', parsePayload(payload ?? '')?.data)
    const { from_seq: from, to_seq: to } = lost ?? {}
    return from != null && to != null && from < size && size <= to + 1
  })?.seq
}
