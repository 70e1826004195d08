import { sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isoTime } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/open.ts'
import { writeRows } from '../db/write-rows.ts'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import {
  signCheckpoint,
  addSignature,
  createNoteSigner,
  createLedgerSigner,
} from '../ledger/format/note.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import { newSalt } from '../ledger/format/entry.ts'
import { linkEntries } from '../ledger/format/link.ts'
import { forgedHead, HeadGuard, missingHead } from '../ledger/write/head-guard.ts'
import { linkedRows, lockHead } from '../ledger/store/store.ts'
import { SYSTEM } from '../caller/caller.ts'

export interface RotateDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  /** The current Ed25519 private key of the ledger. */
  readonly oldKey: KeyObject
  readonly newKey: KeyObject
  /** The person who ordered the rotation. */
  readonly person?: string | undefined
}

export interface LedgerKeyRotation {
  readonly seq: number
  readonly old_vkey: string
  readonly new_vkey: string
  /** The signature of the old key over the text of `new_vkey`, base64. */
  readonly endorsement: string
  /** The last note of the old key, which is the first of the new one; this entry names it. */
  readonly checkpoint: string
}

/**
 * Rotates the signing key of a ledger. The old key signs the entry, and its checkpoint is always
 * stored: a verifier that trusts the old key learns the new one only there. That is why this does
 * not use the writer, which stores one checkpoint per minute. Servers with the old key refuse to
 * write from this commit on.
 */
export function rotateLedgerKey(
  { person, ...deps }: RotateDeps,
  orgId: string,
): Promise<LedgerKeyRotation> {
  return deps.db.transaction().execute(async (tx) => {
    const head = await lockHead(tx, orgId)
    if (!head) throw missingHead()
    const next = createNoteSigner({ name: head.origin, privateKey: deps.newKey })
    const { vkey: new_vkey } = next
    if (new_vkey === head.vkey)
      throw fail('invalid_request', 'The ledger is already signed with this key')
    const guard = new HeadGuard(createLedgerSigner(deps.oldKey))
    const signer = await guard.signerFor(tx, head)
    if (!signer) throw forgedHead()
    // No newline at its end, so it can never be mistaken for the text of a signed note.
    const endorsement = sign(null, Buffer.from(new_vkey, 'utf8'), deps.oldKey).toString('base64')
    const data = { endorsement, new_vkey, old_vkey: head.vkey }
    const now = isoTime(deps.clock.now())
    const recordedAt = now > head.recorded_at ? now : head.recorded_at
    const by = person === undefined ? {} : { person }
    const rotated: EntryDraft = {
      kind: 'ledger.key_rotated',
      actor: SYSTEM,
      data: { ...data, ...by },
    }
    const linked = linkEntries(head, [rotated], recordedAt, newSalt)
    const { size, root } = linked
    const signed = signCheckpoint(signer, { origin: head.origin, size, root })
    // The new key must have signed this end, because the writer continues only from such an end.
    const checkpoint = addSignature(signed, next)
    await writeRows(tx, linkedRows(head, linked, recordedAt, checkpoint, head.config_version + 1))
    await tx
      .insertInto('ledger_checkpoint')
      .values({ org_id: orgId, size, note: checkpoint })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await tx
      .updateTable('ledger_head')
      .set({ vkey: new_vkey })
      .where('org_id', '=', orgId)
      .execute()
    return { seq: size - 1, checkpoint, ...data }
  })
}
