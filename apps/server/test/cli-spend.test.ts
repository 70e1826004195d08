import { on } from '@remit/core/db'
import type { AnyDatabase, Dialect } from '@remit/core/db'
import { generateKey } from '@remit/core/keys'
import { fullDialects } from '@remit/testing'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { cli, cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request } from './support/process.ts'

const DIALECTS = fullDialects()

interface Comparison {
  readonly rebuilt: boolean
  readonly entries: number
  readonly differences: readonly { readonly agent_id: string; readonly window: string }[]
}

/** Rows as they are stored; totals of zero count as none, and those of an hour, which ends, do not count. */
async function spendIn(db: AnyDatabase) {
  const any = on<Record<string, Record<string, unknown>>>(db)
  const totals = await any.selectFrom('spend_total').selectAll().execute()
  const holds = await any.selectFrom('spend_hold').selectAll().orderBy('decision_id').execute()
  const used = totals.filter(
    (row) =>
      (row['spent_micro'] !== 0 || row['held_micro'] !== 0) && String(row['window_id']).length < 13,
  )
  const key = (row: Record<string, unknown>) =>
    `${String(row['agent_id'])} ${String(row['window_id'])}`
  return { totals: used.toSorted((a, b) => key(a).localeCompare(key(b))), holds }
}

describe.skipIf(!hasModules()).each(DIALECTS)('remit spend rebuild on %s', (dialect: Dialect) => {
  const key = generateKey().secret
  let installation: Installation
  let env: Record<string, string>
  const compare = async () => {
    const { code, stdout } = await cli(['spend', 'rebuild', '--json'], env)
    return { code, ...(JSON.parse(stdout) as Comparison) }
  }
  const spend = () => installation.database(spendIn)
  beforeAll(async () => {
    installation = await createInstallation(dialect)
    env = { ...installation.env, REMIT_BOOTSTRAP_KEY: key, REMIT_RATE_LIMIT: '0' }
    const log = pino({ level: 'silent' })
    const server = await createServer(readConfig(env), { log, background: false })
    const post = async (path: string, body: object) => {
      const answer = await request(server.url + path, key, 'POST', body)
      expect(answer.status, path).toBeLessThan(300)
      return (await answer.json()) as { decision_id: string; decision: string }
    }
    const pay = (agent_id: string, amount_usd?: number) =>
      post('/v1/authorize', {
        agent_id,
        action: 'payments.transfer',
        context: amount_usd === undefined ? {} : { amount_usd },
      })
    const settle = ({ decision_id }: { decision_id: string }, how: object) =>
      post('/v1/ledger', { action: 'payments.settled', decision_id, ...how })
    await post('/v1/spend-limits/payer', { daily_usd: 100, monthly_usd: 500 })
    await pay('payer', 10)
    await settle(await pay('payer', 5), { cost_usd: 3.5 })
    await settle(await pay('payer', 5), { cost_usd: 7.25 })
    await settle(await pay('payer', 2), { settle: 'held' })
    await settle(await pay('payer', 4), { cost_usd: 0 })
    await settle(await pay('payer'), { cost_usd: 0.000001 })
    // More than the limit: a denial holds nothing.
    await pay('payer', 1000)
    await pay('no-limit', 1.5)
    await post('/v1/ledger', { action: 'model.called', agent_id: 'no-limit', cost_usd: 0.2 })
    await post('/v1/ledger', {
      action: 'unasked',
      decision_id: null,
      agent_id: 'rogue',
      cost_usd: 9,
    })
    // Both end after a second; one of them is settled late.
    await post('/v1/spend-limits/brief', { daily_usd: 100, hold_ttl_seconds: 1 })
    await pay('brief', 30)
    const late = await pay('brief', 20)
    const next = await vi.waitUntil(
      async () => {
        const asked = await pay('brief', 90)
        return asked.decision === 'allow' && asked
      },
      { timeout: 60_000, interval: 200 },
    )
    await settle(next, { cost_usd: 1 })
    await settle(late, { cost_usd: 6 })
    await server.stop()
  })
  afterAll(() => installation.remove())

  test('finds that the stored spend is what the entries add up to', async () => {
    const before = await spend()
    const found = await compare()

    expect(found).toMatchObject({
      code: 0,
      rebuilt: false,
      erased: 0,
      complete: true,
      differences: [],
    })
    expect(before.holds.length).toBeGreaterThan(8)
    expect(await spend()).toEqual(before)
  })

  test('names what differs, replaces it on --yes, and records that', async () => {
    const sound = await spend()
    await installation.database(async (db) => {
      await sql`update spend_total set spent_micro = spent_micro + 5000000 where agent_id = 'payer'`.execute(
        db,
      )
      await sql`delete from spend_total where agent_id = 'rogue'`.execute(db)
      await sql`delete from spend_hold where agent_id = 'no-limit'`.execute(db)
    })

    const found = await compare()
    const rebuilt = await cliJson<Comparison>(['spend', 'rebuild', '--yes'], env)

    expect(found.code).toBe(1)
    const differing = found.differences.filter(({ window }) => window.length < 13)
    expect(differing.map(({ agent_id }) => agent_id)).toEqual(['payer', 'payer', 'rogue', 'rogue'])
    expect(rebuilt.rebuilt).toBe(true)
    expect(rebuilt.differences).toEqual(expect.arrayContaining(differing))
    expect(await compare()).toMatchObject({ code: 0, differences: [] })
    expect(await spend()).toEqual(sound)
    const [last] = await installation.database((db) =>
      db.selectFrom('ledger_entry').select('kind').orderBy('seq', 'desc').limit(1).execute(),
    )
    expect(last?.kind).toBe('spend.rebuilt')
    expect(await cli(['ledger', 'verify'], env)).toMatchObject({ code: 0 })
  })

  test('refuses a ledger whose costs were erased', async () => {
    const before = await spend()
    const cost = await installation.database((db) =>
      db
        .selectFrom('ledger_entry')
        .select('seq')
        .where('kind', '=', 'entry.appended')
        .executeTakeFirstOrThrow(),
    )
    await cliJson(['ledger', 'erase', '--seq', String(cost.seq), '--reason', 'a request'], env)

    const found = await compare()
    const { code, stderr } = await cli(['spend', 'rebuild', '--yes'], env)

    expect(found).toMatchObject({ erased: 1, complete: false })
    expect([code, stderr]).toEqual([
      1,
      'remit: The spend cannot be rebuilt: entries of the ledger were pruned or their payloads erased\n',
    ])
    expect(await spend()).toEqual(before)
  })
})
