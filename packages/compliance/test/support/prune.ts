import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createLedgerSigner, pruneLedger } from '@remit/core'
import type { Pruned } from '@remit/core'
import type { Api, TestClock } from '@remit/core/testing'

/** Prunes what is older than 400 days; what goes is kept in memory. */
export async function prune({ remit, org }: Api, clock: TestClock): Promise<Pruned> {
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
    upTo: { keepDays: 400 },
    acknowledgeShortRetention: false,
    archive,
    reason: 'retention',
  })
  if (!pruned) throw new Error('there was nothing to prune')
  return pruned
}
