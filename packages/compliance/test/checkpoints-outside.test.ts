import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SYSTEM } from '@remit/core/caller'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { OPERATOR } from '@remit/core/orgs'
import { apiOf, createClock, handMade, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readNotes } from '../src/watch/checkpoint-files.ts'
import { refuseRestored } from '../src/watch/refuse-restored.ts'
import { Attacker } from './support/attacker.ts'
import { createWatching } from './support/watching.ts'
import type { Watching } from './support/watching.ts'

const HOUR = 60 * 60_000

describe.each(someDialects())('checkpoints outside the database, with %s', (dialect) => {
  const folder = mkdtempSync(join(tmpdir(), 'remit-outside-'))
  const logged: string[] = []
  const clock: TestClock = createClock('2026-11-20T08:00:00.000Z')
  let process: Watching
  let api: Api
  let attacker: Attacker

  beforeAll(async () => {
    const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) })
    process = await createWatching({ dialect, clock, log, settings: { checkpointDir: folder } })
    await Attacker.dropGuards(process.remit.db)
  })
  afterAll(async () => {
    await process.remit.close()
    rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    clock.advance(2 * HOUR)
    api = apiOf(process.remit, await process.remit.organization())
    attacker = new Attacker(process.remit.db, api.org.id)
  })

  const append = (count: number) => {
    const one = handMade({ kind: 'key.created', actor: SYSTEM, data: {} })
    const entries = Array.from({ length: count }, () => one)
    return process.remit.writer.work(api.org.id, OPERATOR, () =>
      Promise.resolve({ entries, reply: () => undefined }),
    )
  }
  /** Some entries, and what the watch then keeps of them. */
  const kept = async (count: number) => {
    await append(count)
    clock.advance(2 * HOUR)
    await process.watch.look()
    const { notes } = await readNotes(folder, api.org.id)
    return notes.map((note) => Number(note.split('\n')[1]))
  }
  const verify = () => api.ok('verifyLedger', { body: {} })
  const own = () => createLedgerSigner(process.remit.signingKey)

  test('the newest checkpoint is kept once an hour, where something was recorded', async () => {
    // The heartbeat is the last entry of the first look.
    const sizes = [await kept(4), await kept(0), await kept(3)]
    await append(1)
    clock.advance(HOUR / 2)
    await process.watch.look()

    expect(sizes).toEqual([[8], [8], [8, 11]])
    expect((await readNotes(folder, api.org.id)).notes).toHaveLength(2)
    expect(await verify()).toMatchObject({
      valid: true,
      anchored_by: 'external',
      checkpoints: { outside: 2, mismatched: 0 },
    })
  })

  test('a ledger behind them is not excused by an entry that names no loss', async () => {
    const [size = 0] = await kept(4)
    const { db, ledger, writer } = process.remit
    const lost = handMade({ kind: 'ledger.recovered', actor: SYSTEM, data: { lost: null } })
    await writer.work(api.org.id, OPERATOR, () =>
      Promise.resolve({ entries: [lost], reply: () => undefined }),
    )
    const file = join(folder, `${api.org.id}.txt`)
    const saved = readFileSync(file, 'utf8')
    writeFileSync(file, saved.replace(`\n${size}\n`, '\n1000\n'))
    const settings = { edition: 'enterprise', spendDeadlineMs: 1, checkpointDir: folder } as const
    const log = pino({ enabled: false })

    await expect(refuseRestored({ db, ledger, log, settings })).rejects.toThrow(
      `${api.org.id} has ${size + 1} entries, a checkpoint has 1000`,
    )
    rmSync(file)
  })

  test('a note signed by another key is not saved', async () => {
    const before = await kept(4)
    await append(3)
    const { privateKey } = generateKeyPairSync('ed25519')
    await attacker.rewrite(1, createLedgerSigner(privateKey))
    clock.advance(2 * HOUR)
    await process.watch.look()

    const { notes } = await readNotes(folder, api.org.id)
    expect(notes.map((note) => Number(note.split('\n')[1]))).toEqual(before)
    expect(logged.join('\n')).toContain('saving a checkpoint outside the database failed')
  })

  test('a rewrite with the signing key is found', async () => {
    await kept(4)
    await append(5)
    await attacker.rewrite(4, own())

    expect(await verify()).toMatchObject({
      valid: false,
      status: 'tampered',
      first_invalid: { seq: 7, code: 'checkpoint_root' },
      // This process has seen the entries that are gone, and adds none to others.
      recorded: false,
      not_recorded: expect.stringContaining('lacks an entry that this server has seen') as unknown,
    })
  })

  test('an older state that was put back with all its signatures is found', async () => {
    await append(2)
    const rows = await attacker.entries()
    const head = await attacker.head()
    clock.advance(HOUR)
    await kept(6)
    await attacker.replace(rows)
    await attacker.setHead(head)
    await process.remit.db
      .deleteFrom('ledger_checkpoint')
      .where('org_id', '=', api.org.id)
      .where('size', '>', head.size)
      .execute()

    expect(await verify()).toMatchObject({
      valid: false,
      status: 'behind_checkpoint',
      first_invalid: { seq: 5, code: 'truncated' },
    })
    logged.length = 0
    clock.advance(2 * HOUR)
    await process.watch.look()
    expect(logged.join()).toContain('the ledger is shorter than a saved checkpoint')
  })

  test('a missing ledger is found and reported, although the verification cannot be recorded', async () => {
    await kept(4)
    await attacker.removeAll()

    const found = await verify()
    expect(found).toMatchObject({ valid: false, recorded: false, ledger: null })
    expect(found.not_recorded).toMatch(/no ledger/)
    expect(found.errors.map(({ seq, code }) => `${seq} ${code}`)).toEqual(
      expect.arrayContaining(['0 bad_genesis', '0 truncated']),
    )
  })

  test('missing checkpoints of a ledger are reported if some were saved', async () => {
    const NONE = /^The checkpoints in REMIT_CHECKPOINT_DIR: the folder has none for this ledger/
    const fresh = await verify()
    await kept(2)
    const held = await verify()
    rmSync(join(folder, `${api.org.id}.txt`))
    const gone = await verify()
    writeFileSync(join(folder, `${api.org.id}.txt`), '')
    const emptied = await verify()

    for (const found of [fresh, held])
      expect(found.not_checked).not.toContainEqual(expect.stringMatching(NONE))
    for (const found of [gone, emptied]) {
      expect(found).toMatchObject({ valid: true, checkpoints: { outside: 0 } })
      expect(found.not_checked).toContainEqual(expect.stringMatching(NONE))
    }
  })

  test('an unreadable or damaged checkpoint file is reported', async () => {
    await kept(1)
    writeFileSync(join(folder, `${api.org.id}.txt`), 'some words\n', { flag: 'a' })
    expect((await verify()).not_checked.join()).toContain('it is not a checkpoint')

    const file = join(folder, 'a file')
    writeFileSync(file, readFileSync(join(folder, `${api.org.id}.txt`)))
    const { url, signingKey } = process.remit
    const astray = await createWatching({
      url,
      clock,
      signingKey,
      settings: { checkpointDir: file },
    })
    const found = await apiOf(astray.remit, api.org).ok('verifyLedger', { body: {} })
    await astray.remit.close()
    expect(found).toMatchObject({ valid: true, anchored_by: 'signature' })
    expect(found.not_checked.join()).toMatch(/REMIT_CHECKPOINT_DIR: reading failed with ENOTDIR/)
  })
})
