import type { Transaction } from 'kysely'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import { openCheckpoint } from '../ledger/format/checkpoint.ts'
import { parseVerifierKey } from '../ledger/format/note.ts'
import { treeRoot } from '../ledger/format/proof.ts'
import { cutFrontier, findCut, ownEntries } from '../ledger/store/cut.ts'
import { parsePayload } from '../ledger/format/entry.ts'
import { missingHead } from '../ledger/write/head-guard.ts'
import { findHead, tilesOf } from '../ledger/store/store.ts'
import type { Writer } from '../ledger/write/writer.ts'
import { OPERATOR } from './administration.ts'
import { SYSTEM } from '../caller/actor.ts'

export interface LedgerRecovery {
  /** Where the entry stands that tells of it. */
  readonly seq: number
  /** The entries that were signed and are gone. */
  readonly lost: { readonly from_seq: number; readonly to_seq: number }
  readonly checkpoint: { readonly size: number; readonly root: string; readonly note: string }
  readonly reason: string
  /** The key that signed it, which the ledger itself may not know any more. */
  readonly vkey: string
}

export interface RecoverOptions {
  /** A signed checkpoint that was kept outside of the database. */
  readonly checkpoint: string
  readonly reason: string
  /** The key of that checkpoint, if it is not the one of the restored ledger. */
  readonly vkey?: string
}

/**
 * Records that a ledger came back from a backup and ends before a checkpoint that it once signed.
 * Throws `NoteError` or `CheckpointError` for a checkpoint that is not of this ledger, and a failure
 * when nothing is lost or when the ledger disagrees with the checkpoint instead of being shorter.
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
      `The checkpoint is of ${size} entries, and those below ${cut?.size} were pruned`,
    )
  }
  const ours = await treeRoot(tilesOf(tx, orgId), size, cutFrontier(cut))
  if (ours === root) {
    throw fail(
      'invalid_request',
      `Nothing is lost: the ledger holds all ${size} entries of the checkpoint`,
    )
  }
  const recorded = await recordOfLoss(tx, orgId, size)
  throw recorded !== undefined
    ? fail('invalid_request', `The loss is recorded already, as entry ${recorded}`)
    : fail(
        'invalid_request',
        `The ledger has ${head.size} entries and disagrees with the checkpoint of ${size}: it was changed, not cut short`,
      )
}

const LOOKED_THROUGH = 100

/** The entry by which it is known that a history with a tree of this size was lost. */
async function recordOfLoss(
  tx: Transaction<CoreTables>,
  orgId: string,
  size: number,
): Promise<number | undefined> {
  const entries = await ownEntries(tx, orgId, 'ledger.recovered', { last: LOOKED_THROUGH })
  return entries.find(({ payload }) => {
    const data = parsePayload(payload ?? '')?.data as Pick<LedgerRecovery, 'lost'> | undefined
    return data !== undefined && data.lost.from_seq < size && size <= data.lost.to_seq + 1
  })?.seq
}
