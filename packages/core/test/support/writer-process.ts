import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { createTestRemit } from '@remit/testing'
import { append, decisionDraft } from './drafts.ts'
import type { WriterJob, Written } from './processes.ts'

// One server process of an installation. It gets ready, waits for a word on its standard input, lets
// all callers write at once, and says on its standard output what each was answered.
const job = JSON.parse(process.env['REMIT_TEST_JOB'] ?? '') as WriterJob
const signingKey = createPrivateKey(process.env['REMIT_TEST_SIGNING_KEY'] ?? '')
const remit = await createTestRemit({ url: job.url, signingKey })

process.stdout.write('ready\n')
await once(process.stdin, 'data')

const written: Written[] = []
const call = async (caller: number) => {
  for (let nth = 0; nth < job.appends; nth++) {
    const orgId = job.orgIds[(caller + nth) % job.orgIds.length] ?? ''
    const [receipt] = await append(remit, orgId, [decisionDraft(caller)])
    if (receipt) written.push({ orgId, seq: receipt.seq, hash: receipt.hash })
  }
}
await Promise.all(Array.from({ length: job.callers }, (_, caller) => call(caller)))

process.stdout.write(`${JSON.stringify(written)}\n`)
await remit.close()
process.stdin.destroy()
