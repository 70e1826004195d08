import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import type { ReadyReport } from '@remit/contract'
import type { Dialect } from '@remit/core/db'
import {
  apiOf,
  bundledProgram,
  createClock,
  createTestRemit,
  inFullRun,
  isFullRun,
  programEnv,
  readyReport,
  someDialects,
  SOURCE_FLAGS,
} from '@remit/testing'
import type { Api, TestClock, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import compliance from '../src/index.ts'
import type { EntryInput } from './support/by-hand.ts'
import { agent, decision, policy, scorerRun } from './support/entries.ts'
import { goodLedger } from './support/good-ledger.ts'
import { play, QUARTER } from './support/reports.ts'

const FRAMEWORKS = ['soc2', 'eu_ai_act', 'nist_ai_rmf'] as const
const NOW = '2026-04-02T08:00:00.000Z'

type Installation = Api & { readonly clock: TestClock }

const modules = [compliance]
const run = promisify(execFile)
const open: (() => Promise<void>)[] = []
afterAll(async () => {
  // In reverse: who made the database drops it.
  for (const close of open.splice(0).toReversed()) await close()
})

async function installation(options: Parameters<typeof createTestRemit>[0]): Promise<TestRemit> {
  const remit = await createTestRemit({ modules, ...options })
  open.push(() => remit.close())
  return remit
}

/** An organization with a quarter behind it, in a product with its own threads. */
async function played(dialect: Dialect): Promise<Installation> {
  const clock = createClock('2025-06-01T00:00:00.000Z')
  const remit = await installation({ dialect, clock })
  const api = { ...apiOf(remit, await remit.organization()), clock }
  await play(api, goodLedger())
  clock.set(NOW)
  return api
}

const report = (api: Api, framework: string): Promise<ReadyReport> =>
  readyReport(api, { framework, ...QUARTER })

/** The hashed content of each framework's report. */
async function hashes(api: Api): Promise<string[]> {
  const found: string[] = []
  for (const framework of FRAMEWORKS) {
    const { content_sha256, csv_sha256 } = await report(api, framework)
    found.push(`${framework} ${content_sha256} ${csv_sha256}`)
  }
  return found
}

const LATER: EntryInput[] = [
  agent('2026-04-02T09:00:00.000Z', 'late'),
  decision('2026-04-02T09:01:00.000Z', {
    agent_id: 'late',
    decision: 'deny',
    reason: 'default_deny',
  }),
  policy('2026-04-02T09:02:00.000Z', 'pol_late'),
  scorerRun('2026-04-02T09:03:00.000Z', 900),
  { at: '2026-04-02T09:04:00.000Z', kind: 'ledger.verified', data: { status: 'tampered' } },
]

/** Environments of processes; each database system tries one, or both in a full run. */
const PLACES = {
  sqlite: { TZ: 'Pacific/Kiritimati', LC_ALL: 'C' },
  postgres: { TZ: 'America/St_Johns', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
}

/** A period that was reported on. */
interface Period {
  readonly api: Installation
  readonly before: readonly string[]
}

const isRun = inFullRun('making reports anew')

let periods: Record<Dialect, Period>
beforeAll(async () => {
  const period = async (dialect: Dialect): Promise<Period> => {
    const api = await played(dialect)
    return { api, before: await hashes(api) }
  }
  periods = { sqlite: await period('sqlite'), postgres: await period('postgres') }
})

test.skipIf(!isRun)('a ledger gives the same bytes on SQLite and on PostgreSQL', async () => {
  const { api, before } = periods.sqlite
  const { signingKey } = api.remit
  const other = await installation({ dialect: 'postgres', signingKey, clock: createClock(NOW) })
  for (const table of [
    'organization',
    'ingest_key',
    'ledger_head',
    'ledger_entry',
    'ledger_checkpoint',
    'ledger_node',
  ] as const) {
    const rows = await api.remit.db.selectFrom(table).selectAll().execute()
    for (const row of rows) await other.db.insertInto(table).values(row).execute()
  }
  expect(await hashes(apiOf(other, api.org))).toEqual(before)
})

describe.skipIf(!isRun).each(someDialects())('the same period on %s', (dialect) => {
  test('gives the same bytes after a restart', async () => {
    const { api, before } = periods[dialect]
    const { url, signingKey } = api.remit
    const again = await installation({
      url,
      signingKey,
      clock: createClock('2027-01-01T00:00:00.000Z'),
    })

    expect(await hashes(apiOf(again, api.org))).toEqual(before)
  })

  test('gives the same bytes whatever the time zone and the language of the process', async () => {
    const { api, before } = periods[dialect]
    const [soc2] = before
    const body = JSON.stringify({ framework: 'soc2', ...QUARTER })
    const pem = api.remit.signingKey.export({ type: 'pkcs8', format: 'pem' }) as string
    for (const env of isFullRun ? Object.values(PLACES) : [PLACES[dialect]]) {
      const given = [api.remit.url, api.org.key, pem, body, NOW]
      const args = [...SOURCE_FLAGS, bundledProgram('report-in-process'), ...given]
      const { stdout } = await run(process.execPath, args, {
        env: programEnv(env),
      })
      const made = JSON.parse(stdout) as {
        content_sha256: string
        csv: string
        environment: object
      }

      expect(made.environment).not.toMatchObject({ zone: 0 })
      expect(`soc2 ${made.content_sha256} ${hash('sha256', made.csv, 'hex')}`).toBe(soc2)
    }
  })

  // Changes the installation, and so comes last.
  test('gives the same bytes after later activity, and after reports about it', async () => {
    const { api, before } = periods[dialect]
    await play(api, LATER)
    await api.remit.db.updateTable('organization').set({ name: 'Renamed', plan: 'team' }).execute()
    api.clock.advance(400 * 24 * 3600 * 1000)
    await api.remit.key(api.org.id, 'read')

    expect(await hashes(api)).toEqual(before)
  })
})
