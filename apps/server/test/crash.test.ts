import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '@remit/core/db/open'
import type { CoreTables, LedgerEntryRow } from '@remit/core/db'
import { generateKey } from '@remit/core/keys'
import { verifyDatabase } from '@remit/core/ledger/records'
import { listOrganizations } from '@remit/core/orgs'
import { fullDialects, inFullRun, openPatiently, runs, startPostgres } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createInstallation } from './support/installation.ts'
import { startLoad } from './support/load.ts'
import type { Answered } from './support/load.ts'
import { request, startServer } from './support/process.ts'

const isRun = inFullRun('restarting PostgreSQL') && hasModules()

/** On each database. */
const KILLS = runs(10, 3)
const key = generateKey().secret
const settings = { REMIT_BOOTSTRAP_KEY: key, REMIT_RATE_LIMIT: '0', REMIT_LOG_LEVEL: 'silent' }

// Decisions are the load, and only the enterprise edition makes them.
describe.skipIf(!hasModules()).each(fullDialects())('kill -9 under load on %s', (dialect) => {
  it('loses nothing that was answered', { timeout: 300_000 }, async () => {
    const installation = await createInstallation(dialect)
    const env = { ...installation.env, ...settings }
    const answered: Answered[] = []

    for (let round = 0; round < KILLS; round++) {
      const { url, server } = await startServer(env)
      if (round === 0)
        await request(`${url}/v1/spend-limits/payer`, key, 'POST', { daily_usd: 1e6 })
      const load = startLoad(url, key)
      await load.more(40 + 10 * (round % 5))
      await server.stop('SIGKILL')
      await load.stop()
      answered.push(...load.answered)
    }
    const { url, server } = await startServer(env)
    const after = await request(`${url}/v1/authorize`, key, 'POST', {
      agent_id: 'payer',
      action: 'still.there',
    })

    expect(after.status).toBe(200)
    await expectAccount(url, answered, (work) => installation.database(work))
    await server.stop()
    await installation.remove()
  })
})

describe.skipIf(!isRun)('PostgreSQL restarted under load', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let installation: Awaited<ReturnType<typeof createInstallation>>
  beforeAll(async () => {
    postgres = await startPostgres()
    installation = await createInstallation('sqlite')
  })
  afterAll(async () => {
    await postgres.stop()
    await installation.remove()
    rmSync(postgres.folder, { recursive: true, force: true })
  })

  it(
    'answers 503 while it is down and serves again without help',
    { timeout: 180_000 },
    async () => {
      const { url, server } = await startServer({
        ...installation.env,
        ...settings,
        REMIT_DATABASE_URL: postgres.url,
      })
      await request(`${url}/v1/spend-limits/payer`, key, 'POST', { daily_usd: 1e6 })
      const load = startLoad(url, key)

      for (const end of ['fast', 'immediate'] as const) {
        await load.more(200)
        await (end === 'fast' ? postgres.stop() : crash(postgres))
        await expectDown(url)
        postgres = await startPostgres(postgres.folder, postgres.port)
        await load.more(200)
        expect((await fetch(`${url}/ready`)).status).toBe(200)
      }
      await load.stop()

      expect(load.refusals.length).toBeGreaterThan(0)
      expect([...new Set(load.refusals.map(({ status }) => status))]).toEqual([503])
      expect(load.refusals.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(
        true,
      )
      await expectAccount(url, load.answered, async (work) => {
        const db = openPatiently<CoreTables>(postgres.url)
        try {
          return await work(db)
        } finally {
          await db.destroy()
        }
      })
      await server.stop()
    },
  )
})

/** Ends PostgreSQL as a power cut would: no checkpoint, no goodbye. */
async function crash(postgres: { folder: string; stop(): Promise<void> }): Promise<void> {
  const [pid] = readFileSync(join(postgres.folder, 'postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(pid), 'SIGQUIT')
  await postgres.stop()
}

async function expectDown(url: string): Promise<void> {
  const ready = await fetch(`${url}/ready`)
  expect(ready.status).toBe(503)
  const refused = await request(`${url}/v1/authorize`, key, 'POST', {
    agent_id: 'payer',
    action: 'payments.transfer',
  })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).not.toBeNull()
  expect(refused.headers.get('content-type')).toBe('application/problem+json')
}

type WithDatabase = <T>(work: (db: Database<CoreTables>) => Promise<T>) => Promise<T>

/** The ledger verifies, holds everything that was answered, and the totals are the sum of it. */
async function expectAccount(
  url: string,
  answered: readonly Answered[],
  withDatabase: WithDatabase,
): Promise<void> {
  const entries = await withDatabase(async (db) => {
    const [organization] = await listOrganizations(db)
    const orgId = organization?.id ?? ''
    const report = await verifyDatabase(db, orgId)
    expect(report).toMatchObject({ status: 'ok', error_count: 0, gaps: 0 })
    return db
      .selectFrom('ledger_entry')
      .selectAll()
      .where('org_id', '=', orgId)
      .orderBy('seq')
      .execute()
  })
  const hashes = new Map(entries.map(({ seq, hash }) => [seq, hash]))
  expect(answered.filter(({ seq, hash }) => hashes.get(seq) !== hash)).toEqual([])

  const limit = await request(`${url}/v1/spend-limits/payer`, key)
  const { spent } = (await limit.json()) as { spent: { day: { usd: number; held_usd: number } } }
  expect(spent.day).toMatchObject(sumOf(entries))
}

/** Spend recomputed from nothing but the entries, in USD. */
function sumOf(entries: readonly LedgerEntryRow[]): { usd: number; held_usd: number } {
  const holds = new Map<string, number>()
  let spent = 0
  for (const { kind, payload } of entries) {
    const { data } = JSON.parse(payload ?? '{}') as { data: Record<string, unknown> }
    const id = String(data['decision_id'])
    const hold = data['hold'] as { usd: number } | undefined
    if (kind === 'authorization.decided' && hold) holds.set(id, Math.round(hold.usd * 1e6))
    if (kind === 'entry.appended') {
      spent += Math.round(Number(data['cost_usd']) * 1e6)
      holds.delete(id)
    }
  }
  const held = [...holds.values()].reduce((sum, micro) => sum + micro, 0)
  return { usd: spent / 1e6, held_usd: held / 1e6 }
}
