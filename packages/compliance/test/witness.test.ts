import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SYSTEM } from '@remit/core/caller'
import { createWitness, openRemoteKey, parseKeyReference } from '@remit/core/kms'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { unwitnessed } from '@remit/core/ledger/records'
import { OPERATOR } from '@remit/core/orgs'
import {
  apiOf,
  createClock,
  handMade,
  KEY_SERVICE_ENV,
  someDialects,
  startKeyService,
} from '@remit/testing'
import type { Api, FakeKeyService, TestRemitOptions } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { appendNote, readNotes } from '../src/watch/checkpoint-files.ts'
import { Attacker } from './support/attacker.ts'
import { createWatching } from './support/watching.ts'
import type { Watching } from './support/watching.ts'

const MINUTE = 60_000

describe.each(someDialects())('a witness of the checkpoints outside, with %s', (dialect) => {
  const folder = mkdtempSync(join(tmpdir(), 'remit-witness-'))
  const clock = createClock('2026-11-20T08:00:00.000Z')
  const log = pino({ level: 'silent' })
  let service: FakeKeyService
  let settings: NonNullable<TestRemitOptions['settings']>
  let process: Watching
  let api: Api
  let attacker: Attacker

  beforeAll(async () => {
    service = await startKeyService()
    const reference = parseKeyReference('vault+transit:transit/remit')
    if (!reference) throw new Error('no reference')
    const witness = createWitness(openRemoteKey(reference, KEY_SERVICE_ENV, service.url))
    settings = { checkpointDir: folder, witness }
    process = await createWatching({ dialect, clock, log, settings })
    await Attacker.dropGuards(process.remit.db)
  })
  afterAll(async () => {
    await process.remit.close()
    await service[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    service.fault = 'none'
    api = apiOf(process.remit, await process.remit.organization())
    attacker = new Attacker(process.remit.db, api.org.id)
  })

  const append = (count: number, { remit } = process) => {
    const entries = Array.from({ length: count }, () =>
      handMade({ kind: 'key.created', actor: SYSTEM, data: {} }),
    )
    return remit.writer.work(api.org.id, OPERATOR, () =>
      Promise.resolve({ entries, reply: () => undefined }),
    )
  }
  /** Some entries, and the notes that the watch then has kept. */
  const kept = async (count: number, by = process): Promise<readonly string[]> => {
    await append(count, by)
    clock.advance(MINUTE)
    await by.watch.look()
    return (await readNotes(folder, api.org.id)).notes
  }
  const signers = (note: string) => [...note.matchAll(/^— (\S+) /gm)].map(([, name]) => name)
  const verify = () => api.ok('verifyLedger', { body: {} })

  test('signs every saved checkpoint, once a minute, and the ledger names its key', async () => {
    await kept(3)
    const notes = await kept(2)

    expect(notes).toHaveLength(2)
    const { origin } = await process.remit.ledger.head(api.org.id)
    const [host] = origin.split('/')
    for (const note of notes) expect(signers(note)).toEqual([origin, `${host}/witness`])
    const { data } = await process.remit.ledger.list(api.org.id, {
      kind: 'witness.set',
      order: 'asc',
      limit: 10,
    })
    expect(data).toMatchObject([
      { data: { vkey: expect.stringContaining('/witness+') as unknown } },
    ])
    expect(await verify()).toMatchObject({ valid: true, anchored_by: 'external' })
  })

  test('finds a history that was rewritten with the real key, in the database and in the folder', async () => {
    await kept(4)
    await append(3)
    await attacker.rewrite(4, createLedgerSigner(process.remit.signingKey))
    const { note } = await attacker.head()
    rmSync(join(folder, `${api.org.id}.txt`))
    await appendNote(folder, api.org.id, note, clock.now())
    // Without a witness, nothing would be wrong with it.
    expect(await verify()).toMatchObject({ valid: true })

    // The process that wrote the replaced entries refuses to continue.
    await expect(append(1)).rejects.toMatchObject({ code: 'ledger_unavailable' })
    const { url, signingKey } = process.remit
    const restarted = await createWatching({ url, signingKey, clock, log, settings })
    onTestFinished(() => restarted.remit.close())
    // The lease of the other process ends.
    clock.advance(240 * MINUTE)
    await kept(1, restarted)
    await appendNote(folder, api.org.id, (await attacker.head()).note, clock.now())
    await appendNote(folder, api.org.id, note, clock.now())
    expect(await verify()).toMatchObject({
      valid: false,
      first_invalid: { code: 'checkpoint_witness' },
    })
  })

  test('rotated in its service signs the next checkpoint, and the ledger names the new key', async () => {
    const query = { kind: 'witness.set', order: 'asc', limit: 10 } as const
    const named = async () => (await process.remit.ledger.list(api.org.id, query)).data
    const [before = ''] = await kept(2)
    service.rotate()
    const after = (await kept(2)).at(-1) ?? ''

    const vkeys = (await named()).map(({ data }) => String(data?.['vkey']))
    expect(vkeys).toHaveLength(2)
    const signedBy = (note: string) => vkeys.filter((vkey) => unwitnessed([note], vkey) !== null)
    expect([signedBy(before), signedBy(after)]).toEqual([[vkeys[0]], [vkeys[1]]])
    expect(await verify()).toMatchObject({ valid: true, anchored_by: 'external' })
  })

  test.each(['down', 'sealed', 'refuses', 'wrong signature'] as const)(
    'that is at fault (%s) stops the copies and nothing else',
    async (fault) => {
      const before = await kept(2)
      service.fault = fault
      expect(await kept(2)).toEqual(before)
      expect((await process.remit.ledger.head(api.org.id)).size).toBeGreaterThan(4)
      service.fault = 'none'
      expect(await kept(0)).toHaveLength(before.length + 1)
    },
  )
})
