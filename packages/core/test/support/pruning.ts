import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createLedgerSigner } from '../../src/ledger/format/note.ts'
import { pruneLedger } from '../../src/orgs/prune/index.ts'
import type { Archive, Pruned, PruneOptions } from '../../src/orgs/prune/index.ts'
import type { TestClock, TestRemit } from '@remit/testing'

/** An archive in memory. */
function memoryArchive(): Archive {
  let text = ''
  return {
    async write(parts) {
      for await (const part of parts) text += part
      return sha256(text)
    },
    read: () => Readable.from([Buffer.from(text)]),
  }
}

/** Prunes what is older than 400 days, into memory unless told otherwise. */
export const prune = (
  remit: TestRemit,
  clock: TestClock,
  orgId: string,
  options: Partial<PruneOptions> = {},
): Promise<Pruned | null> =>
  pruneLedger({ ...remit, clock, signer: createLedgerSigner(remit.signingKey) }, orgId, {
    upTo: { keepDays: 400 },
    acknowledgeShortRetention: false,
    archive: memoryArchive(),
    reason: 'retention',
    ...options,
  })

const sha256 = (text: string): string => hash('sha256', text, 'hex')
