import { expect, onTestFinished, test } from 'vitest'
import { createTestRemit } from '@remit/testing'
import { testSigner } from '../../../test/ledger/chain.ts'
import { signCheckpoint } from '../format/note.ts'
import { StoredCheckpoints } from './database-checkpoints.ts'
import { DatabaseFindings } from './database-report.ts'

const noteOf = (size: number) =>
  signCheckpoint(testSigner('remit.test'), { origin: 'remit.test', size, root: 'ab'.repeat(32) })

test('checkpoints come in order and once, however far ahead they are read', async () => {
  const remit = await createTestRemit()
  onTestFinished(() => remit.close())
  const orgId = 'org_far'
  const sizes = [10, 11, 900, 16_384, 16_400, 17_000, 40_000, 40_001, 70_000]
  const notes = new Map(sizes.map((size) => [size, noteOf(size === 17_000 ? 1 : size)]))
  await remit.db
    .insertInto('ledger_checkpoint')
    .values([...notes].map(([size, note]) => ({ org_id: orgId, size, note })))
    .execute()
  const findings = new DatabaseFindings()
  const stored = new StoredCheckpoints(remit.db, orgId, { after: 10, to: 40_000 }, findings)
  const upTo = async (size: number) => (await stored.upTo(size)).map((row) => row.size)

  expect(await upTo(11)).toEqual([11])
  expect(await upTo(16_384)).toEqual([900, 16_384])
  expect(findings.checkpointsMismatched).toBe(0)
  expect(await upTo(39_999)).toEqual([16_400])
  expect(await upTo(40_000)).toEqual([40_000])
  expect(await upTo(70_000)).toEqual([40_001, 70_000])
  expect(findings.checkpointsMismatched).toBe(1)
})
