import { apiOf, createApi, createClock, prune, readyReport, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import compliance from '../src/index.ts'
import { Attacker } from './support/attacker.ts'
import { decision } from './support/entries.ts'
import { play } from './support/reports.ts'

const BEGIN = '2025-06-01T09:00:00.000Z'
const NOON = '2025-06-01T12:00:00.000Z'

describe.each(someDialects())(
  'a report on an organization that was made today, on %s',
  (dialect) => {
    const clock = createClock(BEGIN)
    let api: Api
    beforeAll(async () => {
      api = await createApi({ dialect, clock, modules: [compliance] })
      clock.set(NOON)
    })
    afterAll(() => api.remit.close())

    test('has no plan and nothing satisfied in a period before it', async () => {
      for (const body of [{}, { to: '2025-05-31' }, { from: '2025-01-01', to: BEGIN }]) {
        const { content } = await readyReport(api, { framework: 'soc2', ...body })
        const reasons = new Set(content.controls.map(({ reason }) => reason))

        expect(content.organization).toEqual({ id: api.org.id, name: api.org.id })
        expect(content.scope.plan).toBeNull()
        expect(content.summary).toMatchObject({ satisfied: 0, attention: 0 })
        expect(reasons).not.toContain('not_in_plan')
      }
    })

    test('up to now names it and its plan', async () => {
      const { content } = await readyReport(api, { framework: 'soc2', to: NOON })
      const stored = await api.remit.db
        .selectFrom('organization')
        .select('name')
        .executeTakeFirstOrThrow()

      expect(content.organization).toEqual({ id: api.org.id, name: stored.name })
      expect(content.scope.plan).toBe('enterprise')
      expect(content.controls.map(({ reason }) => reason)).not.toContain('not_in_plan')
    })

    test('is made for the first moment after its beginning', async () => {
      const to = '2025-06-01T09:00:00.001Z'
      const { content } = await readyReport(api, { framework: 'soc2', to })

      expect(content.organization.name).not.toBe('')
      expect(content.ledger.entries).toBeGreaterThan(0)
    })

    test('still has the beginning after a pruning', async () => {
      const pruned = apiOf(api.remit, await api.remit.organization())
      clock.advance(60_000)
      await play({ ...pruned, clock }, [decision('2025-06-01T13:00:00.000Z')])
      clock.set('2026-08-01T00:00:00.000Z')
      await play({ ...pruned, clock }, [decision('2026-08-01T00:00:00.000Z')])
      await prune(pruned, clock)

      for (const to of ['2025-06-01T12:30:00.000Z', '2026-01-01']) {
        const { content } = await readyReport(pruned, { framework: 'soc2', to })
        expect(content.scope.plan).toBe('enterprise')
        expect(content.organization.name).not.toBe('')
      }
    })

    test('is not refused if the beginning was removed: the report must show it', async () => {
      const cut = apiOf(api.remit, await api.remit.organization())
      await Attacker.dropGuards(api.remit.db)
      await api.remit.db
        .deleteFrom('ledger_entry')
        .where('org_id', '=', cut.org.id)
        .where('seq', '<', 2)
        .execute()

      const { content } = await readyReport(cut, { framework: 'soc2', to: '2025-05-01' })
      expect(content.ledger.verified).toBe(false)
    })
  },
)
