import { loadLedgerKey } from '@remit/core/ledger/proofs'
import { createKey, OPERATOR } from '@remit/core/orgs'
import { createClock, createTestRemit, handMade } from '@remit/testing'
import type { Installation } from './installation.ts'

const DAY = 24 * 60 * 60 * 1000

/**
 * An organization whose ledger began 500 days ago: genesis, two entries and `keys` keys of then, one a
 * minute, and an entry of today. Written as the server would have, with the installation's own key.
 */
export async function oldLedger({ env }: Installation, keys = 10): Promise<string> {
  const clock = createClock(new Date(Date.now() - 500 * DAY).toISOString())
  const signingKey = loadLedgerKey(env['REMIT_LEDGER_KEY_FILE'] ?? '', true)
  const remit = await createTestRemit({ url: env['REMIT_DATABASE_URL'] ?? '', signingKey, clock })
  const { id } = await remit.organization()
  for (let i = 0; i < keys; i++) {
    clock.advance(60_000)
    await createKey(remit.writer, id, { role: 'read', name: `key ${i}` })
  }
  clock.set(new Date().toISOString())
  const actor = { type: 'system', id: 'remit' }
  const data = { metadata: { note: 'private' } }
  const entry = handMade({ kind: 'entry.appended', actor, data })
  await remit.writer.work(id, OPERATOR, () =>
    Promise.resolve({ entries: [entry], reply: () => undefined }),
  )
  await remit.close()
  return id
}
