import { CSV_PARTS } from '@remit/contract'
import { randomIds } from '@remit/core/base'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { createOrganization, isOrganizationName } from '@remit/core/orgs'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withoutFormulas } from '@remit/contract/fit'
import type { EntryInput } from './support/by-hand.ts'
import { formulasIn, FORMULAS, parseCsv, readTable } from './support/csv.ts'
import { agent, day, decision } from './support/entries.ts'
import { createReports, play, QUARTER } from './support/reports.ts'
import type { ReportsApi } from './support/reports.ts'

/** Every table of a report on the quarter, read by a strict reader; no cell is a formula. */
async function tablesOf(api: Pick<ReportsApi, 'ok' | 'call'>) {
  const { id } = await api.ok('createReport', { body: { framework: 'soc2', ...QUARTER } })
  const tables = new Map<string, Record<string, string>[]>()
  for (const part of CSV_PARTS) {
    const query = { format: 'csv', part }
    const text = await (await api.call('getReport', { params: { id }, query })).text()
    const cells = parseCsv(text).flat()
    // Computed values are bare, and may be negative numbers.
    const texts = cells.filter((cell) => !text.includes(`,${cell},`))
    expect(texts.flatMap(formulasIn)).toEqual([])
    tables.set(part, readTable(text))
  }
  return tables
}

describe('texts that would be formulas', () => {
  test('as names of organizations are shown in every row, and run in none', async () => {
    const api = await createReports()
    onTestFinished(() => api.remit.close())
    const signer = createLedgerSigner(api.remit.signingKey)
    const { db } = api.remit
    const base = { db, clock: api.clock, ids: randomIds, signer, host: 'remit.test', version: '0' }
    const deps = { ...base, log: pino({ level: 'silent' }) }
    const names = FORMULAS.filter(isOrganizationName)
    expect(names.length).toBeGreaterThan(20)
    const made = []
    for (const name of names) {
      const { organization: row, key } = await createOrganization(deps, name, 'enterprise')
      made.push({ name, as: api.as({ id: row.id, key: key.secret }) })
    }
    api.clock.set('2026-04-02T08:00:00.000Z')
    for (const { name, as } of made) {
      const tables = await tablesOf(as)
      for (const row of tables.get('controls') ?? []) {
        expect(row['organization']).toBe(withoutFormulas(name))
      }
    }
  })

  test('as names of agents are shown in findings, and run in none', async () => {
    const api = await createReports()
    onTestFinished(() => api.remit.close())
    // The ledger takes no half pair of surrogates from anybody.
    const names = FORMULAS.filter((name) => name.isWellFormed())
    expect(names.length).toBeGreaterThan(42)
    const texts: string[] = []
    // Findings of one check stop at twenty-five.
    for (let first = 0; first < names.length; first += 20) {
      api.clock.set('2025-12-31T00:00:00.000Z')
      const some = api.as(await api.remit.organization())
      const said = names
        .slice(first, first + 20)
        .flatMap((name, i): EntryInput[] => [
          agent(day(i), name),
          { ...agent(day(i, 1), name, { status: 'suspended' }), kind: 'agent.suspended' },
          decision(day(i, 2), { agent_id: name }),
        ])
      await play({ ...some, clock: api.clock }, said)
      api.clock.set('2026-04-02T08:00:00.000Z')
      const findings = (await tablesOf(some)).get('findings') ?? []
      texts.push(...findings.map((row) => row['finding_text'] ?? ''))
    }
    const unseen = names.filter(
      (name) => !texts.some((text) => text.includes(withoutFormulas(`x${name}`).slice(1))),
    )
    expect(unseen).toEqual([])
  })
})
