import { sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isoTime } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/open.ts'
import { writeRows } from '../db/portable.ts'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import { signCheckpoint } from '../ledger/format/checkpoint.ts'
import { newSalt } from '../ledger/format/entry.ts'
import { linkEntries } from '../ledger/format/link.ts'
import { forgedHead, HeadGuard, missingHead } from '../ledger/write/head-guard.ts'
import { addSignature, createNoteSigner } from '../ledger/format/note.ts'
import { createLedgerSigner } from '../ledger/format/signing-key.ts'
import { linkedRows, lockHead } from '../ledger/store/store.ts'
import { SYSTEM } from '../caller/actor.ts'

export interface RotateDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  /** The Ed25519 private key that signs the ledger now. */
  readonly oldKey: KeyObject
  readonly newKey: KeyObject
}

export interface LedgerKeyRotation {
  readonly seq: number
  readonly old_vkey: string
  readonly new_vkey: string
  /** The old key's signature over the text of `new_vkey`, base64. */
  readonly endorsement: string
  /** The last note that the old key signs, and the first of the new one, which this entry names. */
  readonly checkpoint: string
}

/**
 * Hands a ledger over to another signing key. The entry that says so is signed by the old key, whose
 * checkpoint is kept whatever the time: a verifier that trusts the old key learns the new one only
 * there. That is why this does not go through the writer, which keeps one checkpoint a minute.
 * Servers that still hold the old key refuse to write from this commit on.
 */
export function rotateLedgerKey(deps: RotateDeps, orgId: string): Promise<LedgerKeyRotation> {
  return deps.db.transaction().execute(async (tx) => {
    const head = await lockHead(tx, orgId)
    if (!head) throw missingHead()
    const next = createNoteSigner({ name: head.origin, privateKey: deps.newKey })
    const { vkey: new_vkey } = next
    if (new_vkey === head.vkey)
      throw fail('invalid_request', 'The ledger is signed with that key already')
    const guard = new HeadGuard(createLedgerSigner(deps.oldKey))
    const signer = await guard.signerFor(tx, head)
    if (!signer) throw forgedHead()
    // No newline at its end: it can never be taken for the text of a note that the key signed.
    const endorsement = sign(null, Buffer.from(new_vkey, 'utf8'), deps.oldKey).toString('base64')
    const data = { endorsement, new_vkey, old_vkey: head.vkey }
    const now = isoTime(deps.clock.now())
    const recordedAt = now > head.recorded_at ? now : head.recorded_at
    const entry = { kind: 'ledger.key_rotated', actor: SYSTEM, data }
    const linked = linkEntries(head, [entry], recordedAt, newSalt)
    const { size, root } = linked
    const signed = signCheckpoint(signer, { origin: head.origin, size, root })
    // Whoever has the new key alone goes on from here, and must find that it signed this end.
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
