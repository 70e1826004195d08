import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CoreTables } from '../../src/db/schema.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { createTestRemit, fullDialects, openPatiently, runs } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { append, decisionDraft } from '../support/drafts.ts'
import { startWriters } from '../support/processes.ts'
import type { Written } from '../support/processes.ts'

const GENESIS_ENTRIES = 3
const APPENDS = runs(300)

/** Looks again and again while some work goes on. */
async function during<T>(work: Promise<T>, look: () => Promise<void>): Promise<T> {
  const state = { isOver: false }
  const done = work.finally(() => {
    state.isOver = true
  })
  while (!state.isOver) await look()
  return done
}

const dialects = fullDialects()
// SQLite is for one process; a second one (the command line) must still not be able to fork.
const WRITERS = (
  [
    { dialect: 'postgres', processes: 4, callers: 100, appends: 5 },
    { dialect: 'sqlite', processes: 2, callers: 40, appends: 5 },
  ] as const
).filter(({ dialect }) => dialects.includes(dialect))

describe.each(WRITERS)('$processes processes on $dialect', (writers) => {
  const { dialect, processes, callers, appends } = writers
  let remit: TestRemit
  beforeEach(async () => {
    remit = await createTestRemit({ dialect })
  })
  afterEach(() => remit.close())

  const newLedgers = async (count: number) => {
    const ids: string[] = []
    while (ids.length < count) ids.push((await remit.organization()).id)
    return ids
  }

  /** Every answer is in the chain under its number, no two have one number, and none is left over. */
  async function expectOneChain(orgId: string, written: readonly Written[]): Promise<void> {
    const { vkey, size } = await remit.ledger.head(orgId)
    const rows = await remit.db
      .selectFrom('ledger_entry')
      .select(['seq', 'hash'])
      .where('org_id', '=', orgId)
      .where('seq', '>=', GENESIS_ENTRIES)
      .orderBy('seq')
      .execute()
    const answered = written
      .filter((one) => one.orgId === orgId)
      .map(({ seq, hash }) => ({ seq, hash }))
      .toSorted((one, other) => one.seq - other.seq)
    expect(answered).toEqual(rows)
    expect(size).toBe(GENESIS_ENTRIES + answered.length)
    expect(await verifyDatabase(remit.db, orgId, { vkeys: [vkey] })).toMatchObject({
      status: 'ok',
      errors: [],
      checked: { entries: size },
      truncation_checked: false,
    })
  }

  test(`${callers} callers each write one chain, and verifying it meanwhile raises no alarm`, async () => {
    const [orgId = ''] = await newLedgers(1)
    const { vkey } = await remit.ledger.head(orgId)
    const job = { url: remit.url, orgIds: [orgId], callers, appends }
    const own = openPatiently<CoreTables>(remit.url)
    const sizes = new Set<number>()

    const write = await startWriters(processes, job, remit.signingKey)
    const written = await during(write(), async () => {
      const report = await verifyDatabase(own, orgId, { vkeys: [vkey] })
      expect(report).toMatchObject({ status: 'ok', errors: [], truncation_checked: false })
      sizes.add(report.checked.entries)
    })
    await own.destroy()

    expect(written).toHaveLength(processes * callers * appends)
    await expectOneChain(orgId, written)
    // It was looked at while it grew, not only before and after.
    const last = GENESIS_ENTRIES + written.length
    expect([...sizes].some((size) => size > GENESIS_ENTRIES && size < last)).toBe(true)
  })

  test('the first appends of a ledger come from all processes at once and do not fork it', async () => {
    const orgIds = await newLedgers(20)
    const job = { url: remit.url, orgIds, callers: 20, appends: 1 }

    const write = await startWriters(processes, job, remit.signingKey)
    const written = await write()

    expect(written).toHaveLength(processes * 20)
    for (const orgId of orgIds) await expectOneChain(orgId, written)
  })
})

describe.each(dialects)('verifying on %s', (dialect) => {
  test('raises no alarm while this process writes', async () => {
    const remit = await createTestRemit({ dialect })
    const { id } = await remit.organization()
    const write = async () => {
      for (let nth = 0; nth < APPENDS; nth++) await append(remit, id, [decisionDraft(nth)])
    }

    await during(Promise.all([write(), write(), write(), write()]), async () => {
      expect(await verifyDatabase(remit.db, id)).toMatchObject({ status: 'ok', errors: [] })
    })

    expect(await verifyDatabase(remit.db, id)).toMatchObject({
      checked: { entries: GENESIS_ENTRIES + 4 * APPENDS },
    })
    await remit.close()
  })
})
