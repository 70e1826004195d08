import { sizeOfNote } from '@remit/core/ledger/proofs'
import type { CheckpointBucket, Deps } from '@remit/core/module'
import { putObject } from '@remit/core/net'

const DAY_MS = 86_400_000

/** Stores a checkpoint as an object that nobody can change; rejects unless the store accepted it. */
export async function lockNote(
  { outbound, clock }: Pick<Deps, 'outbound' | 'clock'>,
  { bucket, prefix, lockDays }: CheckpointBucket,
  orgId: string,
  note: string,
): Promise<void> {
  const until = new Date(clock.now() + lockDays * DAY_MS)
  const size = String(sizeOfNote(note) ?? 0).padStart(16, '0')
  // The operator chose the store.
  const anywhere = outbound.with({ allowPrivate: true, anyPort: true })
  const { status } = await putObject(anywhere, bucket, {
    key: `${prefix}${orgId}/${size}.note`,
    body: Buffer.from(note),
    contentType: 'text/plain; charset=utf-8',
    ...(lockDays > 0 && { lock: { mode: 'COMPLIANCE', until } }),
  })
  if (status !== 200) throw new Error(`REMIT_CHECKPOINT_BUCKET answered ${status}`)
}
