import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { pruneLedger } from '@remit/core/orgs'
import type { Pruned, PruneUpTo } from '@remit/core/orgs'
import type { TestClock } from './clock.ts'
import type { TestOrganization, TestRemit } from './remit.ts'

/** Prunes entries older than 400 days by default; the archive is in memory. */
export async function prune(
  { remit, org }: { readonly remit: TestRemit; readonly org: Pick<TestOrganization, 'id'> },
  clock: TestClock,
  upTo: PruneUpTo = { keepDays: 400 },
): Promise<Pruned> {
  let text = ''
  const archive = {
    async write(parts: AsyncIterable<string>) {
      for await (const part of parts) text += part
      return hash('sha256', text, 'hex')
    },
    read: () => Readable.from([Buffer.from(text)]),
  }
  const signer = createLedgerSigner(remit.signingKey)
  const pruned = await pruneLedger({ ...remit, clock, signer }, org.id, {
    upTo,
    acknowledgeShortRetention: true,
    archive,
    reason: 'retention',
  })
  if (!pruned) throw new Error('nothing to prune')
  return pruned
}
