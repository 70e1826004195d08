import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseCarried } from '../../src/ledger/format/carried.ts'
import { findCut } from '../../src/ledger/store/cut.ts'
import { verifyExport } from '../../src/ledger/verify/export.ts'
import { readEntries } from '../../src/ledger/store/store.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import type { PruneStep } from '../../src/orgs/prune/index.ts'
import { createKey } from '../../src/orgs/administration.ts'
import {
  bundledProgram,
  createClock,
  createTestRemit,
  fullDialects,
  inFullRun,
  programEnv,
  sampled,
  SOURCE_FLAGS,
} from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { append, decisionDraft } from '../support/drafts.ts'
import type { PruneJob } from '../support/prune-process.ts'

const isRun = inFullRun('killing a pruning')

const LATER = '2027-01-01T00:00:00.000Z'

type Kill = readonly [PruneStep, number]

/** Points before the cut at which a pruning is killed, in order. */
const BEFORE_CUT: readonly Kill[] = [
  ['verified', 2],
  ['exported', 1],
  ['exported', 4],
  ['carried over', 1],
  ['carried over', 5],
]

// The second one is of a pruning that another one left unfinished.
const KILLS: readonly Kill[] = [...sampled(BEFORE_CUT), ['removed', 1], ['removed', 1]]

describe.skipIf(!isRun).each(fullDialects())('a pruning that is killed on %s', (dialect) => {
  const clock = createClock('2025-01-01T00:00:00.000Z')
  const folder = mkdtempSync(join(tmpdir(), 'remit-prune-crash-'))
  let remit: TestRemit
  let orgId: string
  let files = 0

  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
    orgId = (await remit.organization()).id
    for (let i = 0; i < 25; i++) {
      clock.advance(60_000)
      await createKey(remit.writer, orgId, { role: 'read', name: `key ${i}` })
      await append(
        remit,
        orgId,
        Array.from({ length: 200 }, (_, n) => decisionDraft(n)),
      )
    }
    clock.set(LATER)
    await append(remit, orgId, [decisionDraft(1)])
  }, 300_000)
  afterAll(async () => {
    await remit.close()
    rmSync(folder, { recursive: true })
  })

  function run(killAt: PruneJob['killAt']): { signal: string | null; file: string } {
    const file = join(folder, `${++files}.ndjson`)
    const job: PruneJob = { url: remit.url, orgId, now: LATER, file, killAt }
    const program = [...SOURCE_FLAGS, bundledProgram('prune-process')]
    const { signal, stderr, status } = spawnSync(process.execPath, program, {
      env: programEnv({
        REMIT_TEST_JOB: JSON.stringify(job),
        REMIT_TEST_SIGNING_KEY: String(remit.signingKey.export({ type: 'pkcs8', format: 'pem' })),
      }),
      encoding: 'utf8',
    })
    if (killAt === null && status !== 0) throw new Error(stderr)
    return { signal, file }
  }

  const verify = async () => {
    const { vkey } = await remit.ledger.head(orgId)
    let text = ''
    for await (const part of await remit.ledger.export(orgId)) text += part
    return {
      inDatabase: await verifyDatabase(remit.db, orgId, { vkeys: [vkey] }),
      inExport: await verifyExport(text.trimEnd().split('\n'), { vkey }),
    }
  }

  test('leaves a ledger that verifies, wherever that was, and is finished by the next one', async () => {
    let cut: number | undefined
    for (const killAt of KILLS) {
      const { signal } = run(killAt)
      const { inDatabase, inExport } = await verify()
      cut = (await findCut(remit.db, orgId))?.size
      const kept = await readEntries(remit.db, orgId, 0, 1)

      expect(signal, killAt.join()).toBe('SIGKILL')
      expect(inDatabase, killAt.join()).toMatchObject({
        status: 'ok',
        errors: [],
        checked: { from_seq: cut ?? 0 },
      })
      expect(inExport, killAt.join()).toMatchObject({ status: 'ok', errors: [] })
      expect(cut === undefined, killAt.join()).toBe(killAt[0] !== 'removed')
      // Rows below the cut are there and are told of, but nobody is given them.
      if (cut === undefined) continue
      expect(kept[0]!.seq).toBeLessThan(cut)
      expect(inDatabase.not_checked.join()).toContain('after an interrupted pruning')
      await expect(remit.ledger.entry(orgId, kept[0]!.seq)).rejects.toMatchObject({
        code: 'ledger_pruned',
      })
      await append(remit, orgId, [decisionDraft(2)])
    }

    run(null)

    expect((await readEntries(remit.db, orgId, 0, 1))[0]!.seq).toBe(cut)
    const { inDatabase } = await verify()
    expect(inDatabase).toMatchObject({ status: 'ok', checked: { from_seq: cut } })
    expect(inDatabase.not_checked.join()).not.toContain('interrupted')
  }, 300_000)

  test('carries everything over once, and its record names a file that is whole', async () => {
    const { data } = await remit.ledger.list(orgId, {
      kind: 'state.carried',
      order: 'asc',
      limit: 1_000,
    })
    const rows = await readEntries(remit.db, orgId, 0, 1_000)
    const seqs = rows.flatMap((row) => parseCarried(row)?.seq ?? [])
    const record = rows.find(({ kind }) => kind === 'ledger.pruned')!
    const { carried, export_sha256 } = (await remit.ledger.entry(orgId, record.seq)).data!

    expect(data).toHaveLength(27)
    expect(new Set(seqs).size).toBe(27)
    expect(carried).toBe(27)
    const whole = Array.from({ length: files }, (_, i) => join(folder, `${i + 1}.ndjson`)).filter(
      (file) => existsSync(file),
    )
    const hashes = whole.map((file) => hash('sha256', readFileSync(file), 'hex'))
    expect(hashes).toContain(export_sha256)
    for (const file of whole) {
      const report = await verifyExport(readFileSync(file, 'utf8').trimEnd().split('\n'))
      expect(report).toMatchObject({ status: 'ok', checked: { from_seq: 0 } })
    }
  })
})
