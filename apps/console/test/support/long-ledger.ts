import { writeFileSync } from 'node:fs'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { OPERATOR } from '@remit/core/orgs'
import { createTestRemit } from '@remit/testing'
import type { Installation } from './server.ts'

const BATCH = 2_000

/**
 * Writes a ledger of `entries` into a new installation, without HTTP and with a commit per two thousand
 * entries. Returns the key of its organization.
 */
export async function writeLongLedger(
  { databaseUrl, ledgerKeyFile }: Installation,
  entries: number,
): Promise<string> {
  const remit = await createTestRemit({ url: databaseUrl })
  try {
    writeFileSync(ledgerKeyFile, remit.signingKey.export({ type: 'pkcs8', format: 'pem' }), {
      mode: 0o600,
    })
    const { id, key } = await remit.organization()
    const { size } = await remit.ledger.head(id)
    for (let at = size; at < entries; at += BATCH) {
      const drafts = Array.from({ length: Math.min(BATCH, entries - at) }, (_, i) => draft(at + i))
      await remit.writer.work(id, OPERATOR, () =>
        Promise.resolve({ entries: drafts, reply: () => undefined }),
      )
    }
    return key
  } finally {
    await remit.close()
  }
}

const draft = (i: number): EntryDraft => ({
  kind: 'entry.appended',
  actor: { type: 'agent', id: `agent-${i % 50}` },
  agent_id: `agent-${i % 50}`,
  action: 'load.step',
  data: { metadata: { step: i } },
})
