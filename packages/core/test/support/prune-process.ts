import { createPrivateKey } from 'node:crypto'
import { createLedgerSigner } from '../../src/ledger/format/note.ts'
import { fileArchive, finishPruning, pruneLedger } from '../../src/orgs/prune/index.ts'
import type { PruneStep } from '../../src/orgs/prune/index.ts'
import { createClock, createTestRemit } from '@remit/testing'

/** A pruning in a process of its own, which kills itself at the nth sign of some step. */
export interface PruneJob {
  readonly url: string
  readonly orgId: string
  readonly now: string
  readonly file: string
  readonly killAt: readonly [step: PruneStep, nth: number] | null
}

const job = JSON.parse(process.env['REMIT_TEST_JOB'] ?? '') as PruneJob
const signingKey = createPrivateKey(process.env['REMIT_TEST_SIGNING_KEY'] ?? '')
const clock = createClock(job.now)
const remit = await createTestRemit({ url: job.url, signingKey, clock })

const seen = new Map<PruneStep, number>()
const onStep = (step: PruneStep) => {
  const nth = (seen.get(step) ?? 0) + 1
  seen.set(step, nth)
  // Nothing is tidied up, flushed or rolled back by hand.
  if (job.killAt?.[0] === step && job.killAt[1] === nth) process.kill(process.pid, 'SIGKILL')
}

await finishPruning(remit.db, job.orgId, onStep)
await pruneLedger({ ...remit, clock, signer: createLedgerSigner(signingKey) }, job.orgId, {
  upTo: { keepDays: 400 },
  acknowledgeShortRetention: false,
  archive: fileArchive(job.file),
  reason: 'retention',
  onStep,
})
await remit.close()
