import { generateKeyPairSync } from 'node:crypto'
import type { LedgerVerification } from '@remit/contract'
import { SYSTEM } from '@remit/core/caller'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import type { LedgerSigner } from '@remit/core/ledger/proofs'
import { OPERATOR } from '@remit/core/orgs'
import {
  apiOf,
  createClock,
  createTestRemit,
  handMade,
  readyReport,
  someDialects,
} from '@remit/testing'
import type { Api, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import compliance from '../src/index.ts'
import { Attacker } from './support/attacker.ts'

/**
 * The attack; the ledger has 33 entries, the last of them about a report, and a checkpoint every
 * five entries.
 */
interface Attack {
  readonly name: string
  readonly run: (attacker: Attacker, own: LedgerSigner) => Promise<unknown>
  readonly first: string
  readonly status?: LedgerVerification['status']
  /** Further errors that must be among those found. */
  readonly also?: readonly string[]
  /** The server can no longer write to the ledger. */
  readonly unwritable?: true
  /** The running server refuses to write, because it has written entries that are gone or replaced. */
  readonly restart?: true
}

const foreign = createLedgerSigner(generateKeyPairSync('ed25519').privateKey)
const flipped = (text: string) => text.replace(/\d(?=\D*$)/, (digit) => (digit === '1' ? '2' : '1'))

const ATTACKS: readonly Attack[] = [
  {
    name: 'a byte of a payload is flipped',
    first: '10 commitment_mismatch',
    run: async (he) => he.set(10, { payload: flipped((await he.entries())[10]!.payload!) }),
  },
  {
    name: 'a byte of a hash is flipped',
    first: '10 hash_mismatch',
    run: async (he) => he.set(10, { hash: flipped((await he.entries())[10]!.hash) }),
  },
  {
    name: 'a hash is replaced by what is none',
    first: '31 hash_mismatch',
    also: ['31 report_checkpoint'],
    run: (he) => he.set(31, { hash: 'none' }),
  },
  {
    name: 'two entries change places',
    first: '10 broken_link',
    run: async (he) => {
      const rows = await he.entries()
      const [one, other] = [rows[10]!, rows[11]!]
      await he.replace(rows.with(10, { ...other, seq: 10 }).with(11, { ...one, seq: 11 }))
    },
  },
  {
    name: 'an entry in the middle is deleted',
    first: '10 gap',
    run: (he) => he.remove(10, 11),
  },
  {
    name: 'the tail is cut and the head forgotten',
    first: '23 truncated',
    also: ['32 report_unrecorded'],
    run: (he) => he.remove(23),
  },
  {
    name: 'the tail is cut, the head is repaired, and its signature is newer',
    first: '22 head_mismatch',
    also: ['23 truncated', '32 report_unrecorded'],
    run: async (he) => {
      await he.remove(23)
      await he.repairHead('left')
    },
  },
  {
    name: 'the tail is cut down to a kept checkpoint, and everything is as it was then',
    first: '31 report_checkpoint',
    also: ['32 report_unrecorded'],
    restart: true,
    run: async (he) => {
      const { size } = (await he.checkpoints()).find(({ size: at }) => at > 10)!
      await he.remove(size)
      await he.repairHead('older')
    },
  },
  {
    name: 'all is rewritten with fresh hashes, and the head forgotten',
    first: '7 checkpoint_root',
    also: ['32 head_mismatch'],
    run: (he) => he.rewrite(1),
  },
  {
    name: 'all is rewritten with fresh hashes, and the head is repaired',
    first: '7 checkpoint_root',
    run: async (he) => {
      await he.rewrite(1)
      await he.repairHead('left')
    },
  },
  {
    name: 'all is rewritten and signed with another key',
    first: '31 report_checkpoint',
    also: ['32 untrusted_key'],
    unwritable: true,
    run: (he) => he.rewrite(1, foreign),
  },
  {
    name: 'all is rewritten and signed with another key, which nothing names',
    first: '0 commitment_mismatch',
    also: ['7 checkpoint_signature'],
    run: async (he, own) => {
      const { origin } = await he.head()
      await he.rewrite(1, foreign)
      await he.setHead({ vkey: own.forOrigin(origin).vkey })
      const [genesis] = await he.entries()
      await he.set(0, { payload: genesis!.payload!.replace(/"vkey":"[^"]+"/, '"vkey":""') })
    },
  },
  {
    name: 'all is rewritten and signed with the real key',
    first: '31 report_checkpoint',
    restart: true,
    run: (he, own) => he.rewrite(1, own),
  },
  {
    name: 'everything is deleted',
    first: '0 bad_genesis',
    also: ['0 head_missing', '32 report_unrecorded'],
    unwritable: true,
    run: (he) => he.removeAll(),
  },
]

describe.each(someDialects())('an attacker with the whole database on %s', (dialect) => {
  const clock = createClock('2026-01-05T08:00:00.000Z')
  let remit: TestRemit

  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock, modules: [compliance] })
    await Attacker.dropGuards(remit.db)
  })
  afterAll(() => remit.close())

  /** An organization with 33 entries: five a minute, and a report on the month. */
  async function played(): Promise<Api> {
    clock.set('2026-01-05T08:00:00.000Z')
    const org = await remit.organization()
    for (let minute = 0; minute < 6; minute++) {
      clock.advance(60_000)
      const entries = Array.from({ length: minute === 5 ? 4 : 5 }, (_, i) =>
        handMade({
          kind: 'key.created',
          actor: SYSTEM,
          data: { key: { id: `key_${minute}_${i}` } },
        }),
      )
      await remit.writer.work(org.id, OPERATOR, () =>
        Promise.resolve({ entries, reply: () => undefined }),
      )
    }
    clock.set('2026-02-01T08:00:00.000Z')
    const api = apiOf(remit, org)
    await reported(api)
    return api
  }

  async function afterRestart(api: Api): Promise<Api> {
    const refused = await api.call('createReport', { body: JANUARY })
    expect(await refused.json()).toMatchObject({ code: 'ledger_unavailable' })
    const { url, signingKey } = remit
    const restarted = await createTestRemit({ url, signingKey, clock, modules: [compliance] })
    onTestFinished(() => restarted.close())
    return apiOf(restarted, api.org)
  }

  const JANUARY = { framework: 'soc2', from: '2026-01-01', to: '2026-01-31' }
  const reported = async (api: Api) => (await readyReport(api, JANUARY)).content

  test('finds nothing wrong without a change', async () => {
    const api = await played()
    const verification = await api.ok('verifyLedger', { body: {} })
    const content = await reported(api)

    expect(verification).toMatchObject({
      valid: true,
      status: 'ok',
      checked: { entries: 33 },
      reports: { checked: 1, mismatched: 0 },
    })
    expect(content.ledger).toMatchObject({ verified: true, first_bad_seq: null })
    expect(content.controls.filter(({ reason }) => reason === 'ledger_not_verified')).toEqual([])
  })

  test.each(ATTACKS)('$name: found by verification', async ({ run, first, status, also = [] }) => {
    const api = await played()
    await run(new Attacker(remit.db, api.org.id), createLedgerSigner(remit.signingKey))
    const found = await api.ok('verifyLedger', { body: {} })
    const errors = found.errors.map(({ seq, code }) => `${seq} ${code}`)

    expect(`${found.first_invalid?.seq} ${found.first_invalid?.code}`).toBe(first)
    expect(found).toMatchObject({ valid: false, status: status ?? 'tampered' })
    expect(errors).toEqual(expect.arrayContaining([...also]))
  })

  test('a change to later entries changes no byte of an earlier report', async () => {
    const api = await played()
    const before = await reported(api)
    const later = await api.ok('verifyLedger', { body: {} })
    await new Attacker(remit.db, api.org.id).set(later.ledger!.seq, { action: 'never said' })
    const report = await readyReport(api, JANUARY)

    expect(report.content).toEqual(before)
    expect(report.ledger_head).toMatchObject({ verified: false, first_bad_seq: later.ledger!.seq })
  })

  test.each(ATTACKS.filter(({ unwritable }) => !unwritable))(
    '$name: found by the next report',
    async ({ run, restart }) => {
      const api = await played()
      await run(new Attacker(remit.db, api.org.id), createLedgerSigner(remit.signingKey))
      const { controls, ledger, summary } = await reported(restart ? await afterRestart(api) : api)
      const computed = controls.filter(({ coverage }) => coverage !== 'manual')

      expect(ledger.verified).toBe(false)
      expect(summary).toMatchObject({ satisfied: 0, not_evidenced: 0, attention: 17, manual: 16 })
      expect(new Set(computed.map(({ status, reason }) => `${status} ${reason}`))).toEqual(
        new Set(['attention ledger_not_verified']),
      )
    },
  )

  test.each(ATTACKS.filter(({ unwritable }) => unwritable))(
    '$name: the server makes no report of it',
    async ({ run }) => {
      const api = await played()
      await run(new Attacker(remit.db, api.org.id), createLedgerSigner(remit.signingKey))
      const response = await api.call('createReport', { body: JANUARY })

      expect(response.status).toBeGreaterThanOrEqual(400)
    },
  )
})
