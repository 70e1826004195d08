import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KyselyPlugin } from 'kysely'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { verifyExport } from '../../src/ledger/verify/export.ts'
import { Ledger } from '../../src/ledger/read/ledger.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { eraseEntries } from '../../src/orgs/erase-entries.ts'
import { recoverLedger } from '../../src/orgs/recover-ledger.ts'
import { createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { grow } from '../support/drafts.ts'
import { prune } from '../support/pruning.ts'

const DAY = 24 * 60 * 60 * 1000
const MINUTE = 60_000

/** Does something once, between the `nth` read of where a ledger begins and what is read after it. */
function afterReadingCut(nth: number, act: () => Promise<unknown>): KyselyPlugin {
  const reads = new WeakSet<object>()
  let seen = 0
  return {
    transformQuery({ node, queryId }) {
      if (JSON.stringify(node).includes('ledger_cut')) reads.add(queryId)
      return node
    },
    async transformResult({ result, queryId }) {
      if (reads.has(queryId) && ++seen === nth) await act()
      return result
    },
  }
}

describe.each(fullDialects())('while something else goes on, on %s', (dialect) => {
  const clock = createClock()
  let remit: TestRemit
  let id: string
  beforeEach(async () => {
    remit = await createTestRemit({ dialect, clock })
    ;({ id } = await remit.organization())
  })
  afterEach(() => remit.close())

  test('an export of what is erased then goes on to the entry that tells of it', async () => {
    await grow(remit, id, 600, clock)
    const text = await remit.ledger.export(id)
    const parts = [(await text.next()).value as string, (await text.next()).value as string]
    await eraseEntries(remit, id, { seqs: [550], reason: 'asked for' })
    for await (const part of text) parts.push(part)

    const { vkey } = await remit.ledger.head(id)
    const report = await verifyExport(parts.join('').trimEnd().split('\n'), { vkey })
    expect(report).toMatchObject({
      status: 'ok',
      checked: { to_seq: 600 },
      redacted: 1,
      truncation_checked: false,
    })
  })

  test.each([
    ['a proof', 3, (ledger: Ledger) => ledger.proof(id, 1_050)],
    ['a proof of growth', 2, (ledger: Ledger) => ledger.consistency(id, 1_010, 1_100)],
    [
      'an export',
      2,
      async (ledger: Ledger) => {
        const parts = []
        for await (const part of await ledger.export(id, { afterSeq: 1_020 })) parts.push(part)
        return parts
      },
    ],
  ])('%s of what stays is given in spite of a pruning', async (_, nth, read) => {
    await grow(remit, id, 1_000, clock, 1_000)
    clock.advance(500 * DAY)
    await grow(remit, id, 1_100, clock)
    let pruned: unknown = null
    const plugin = afterReadingCut(nth, async () => (pruned = await prune(remit, clock, id)))

    const found = await read(new Ledger(remit.db.withPlugin(plugin)))

    expect(pruned).toMatchObject({ plan: { cut: expect.any(Number) as number } })
    expect(found).toBeTruthy()
  })
})

describe('after a restore from a backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'remit-restored-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('pruning keeps the record of the loss while checkpoints of what was lost are compared', async () => {
    const clock = createClock()
    const remit = await createTestRemit({ clock })
    const { id } = await remit.organization()
    await grow(remit, id, 100, clock, MINUTE)
    const file = join(folder, 'backup.db')
    await sql`vacuum into ${sql.lit(file)}`.execute(remit.db)
    const checkpoint = (await grow(remit, id, 400, clock)).get(400)!
    const { signingKey } = remit
    const restored = await createTestRemit({ url: `sqlite:${file}`, clock, signingKey })
    const { seq } = await recoverLedger(restored.writer, id, { checkpoint, reason: 'disk' })
    const status = async () => {
      const report = await verifyDatabase(restored.db, id, { checkpoints: [checkpoint] })
      return [report.status, report.first_invalid?.code]
    }

    await grow(restored, id, 350, clock, MINUTE)
    const during = clock.now()
    await grow(restored, id, 450, clock, MINUTE)
    const after = clock.now()
    clock.advance(500 * DAY)
    await grow(restored, id, 500, clock)
    const known = await status()

    expect(known).toEqual(['behind_checkpoint', 'truncated'])
    const early = await prune(restored, clock, id, { upTo: { before: during } })
    expect(early?.plan.cut).toBeLessThanOrEqual(seq)
    expect(await status()).toEqual(known)
    const late = await prune(restored, clock, id, { upTo: { before: after } })
    expect(late?.plan.cut).toBeGreaterThan(400)
    expect((await status())[0]).toBe('ok')
    await restored.close()
    await remit.close()
  })
})
