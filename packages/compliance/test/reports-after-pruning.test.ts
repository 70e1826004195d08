import type { ReportContent } from '@remit/contract'
import { eraseEntries } from '@remit/core/orgs'
import {
  createApi,
  createClock,
  fullDialects,
  prune,
  readyReport,
  someDialects,
} from '@remit/testing'
import { expect, test } from 'vitest'
import compliance from '../src/index.ts'
import { change, decision, policy } from './support/entries.ts'
import { goodLedger } from './support/good-ledger.ts'
import { play, QUARTER } from './support/reports.ts'

const FRAMEWORKS = ['soc2', 'eu_ai_act', 'nist_ai_rmf'] as const

/** Metrics of the whole record, or of the time before the period: docs/compliance.md lists them. */
const NAMED = [
  /^ledger\.verified_from_seq$/,
  /^metrics\.(M02|M03|M04|M07|M08|M48|M49)\./,
  /\.checks\.(LED-1|LED-2)\.population$/,
  /\.checks\.(LED-4|LED-7|REP-1)\.(population|basis)$/,
  /\.record_shows\.(LED-1|LED-2|LED-4|LED-7)$/,
  /\.checks\.LED-4\.(days|result)$/,
  /\.evidence\.log_retention\.(operated|reason)$/,
  // The controls that rest on how long logs were kept.
  /^controls\.(PI1\.5|Art\. 17\(1\)\(k\)|Art\. 19\(1\)|Art\. 26\(6\))\.(status|reason|record_shows\..*)$/,
  /^summary\.(satisfied|not_evidenced)$/,
]

/** The differences of two contents: members by path, or by their metric, check or evidence kind. */
function differences(one: unknown, other: unknown, path = ''): string[] {
  if (Object.is(one, other)) return []
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return [path]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap((name) => {
    const inner = (one as Record<string, unknown>)[name]
    const { id, kind } = (inner ?? {}) as { id?: string; kind?: string }
    const check = typeof inner === 'string' ? /^[A-Z]{3}-\d(?= )/.exec(inner)?.[0] : undefined
    const at = path === '' ? name : `${path}.${id ?? kind ?? check ?? name}`
    return differences(inner, (other as Record<string, unknown>)[name], at)
  })
}

test.each(someDialects())(
  'a pruning of older entries changes only the documented values, on %s',
  async (dialect) => {
    const clock = createClock('2025-06-01T00:00:00.000Z')
    const api = await createApi({ dialect, clock, modules: [compliance] })
    const contents = async (): Promise<ReportContent[]> => {
      const made: ReportContent[] = []
      for (const framework of FRAMEWORKS)
        made.push((await readyReport(api, { framework, ...QUARTER })).content)
      return made
    }
    await play({ ...api, clock }, goodLedger())
    clock.set('2026-04-02T08:00:00.000Z')
    const before = await contents()
    clock.set(new Date(Date.parse('2025-12-25') + 400 * 86_400_000).toISOString())
    await play({ ...api, clock }, [decision(new Date(clock.now()).toISOString())])
    const { plan } = await prune(api, clock)
    const after = await contents()
    await api.remit.close()

    expect(plan.cut).toBeGreaterThan(10)
    expect(plan.cut).toBeLessThanOrEqual(before[0]!.ledger.first_seq!)
    const found = before.flatMap((content, i) => differences(content, after[i]))
    expect(found).toContain('ledger.verified_from_seq')
    expect(found.filter((path) => !NAMED.some((one) => one.test(path)))).toEqual([])
  },
)

const ORDERS = fullDialects().flatMap((dialect) =>
  (['before', 'after'] as const).map((order) => ({ dialect, order })),
)

test.each(ORDERS)(
  'the deletion of a rule that was erased $order the pruning is known afterwards, on $dialect',
  async ({ dialect, order }) => {
    const clock = createClock('2025-06-01T00:00:00.000Z')
    const api = await createApi({ dialect, clock, modules: [compliance] })
    const rulesInForce = async () => {
      const { content } = await readyReport(api, { framework: 'soc2', ...QUARTER })
      return content.metrics.find(({ id }) => id === 'M39')
    }
    const eraseFirst = async (kind: string, about: string) => {
      const { data } = await api.remit.ledger.list(api.org.id, { kind, order: 'asc', limit: 100 })
      const { seq } = data.find((entry) => JSON.stringify(entry).includes(about))!
      const named = { seqs: [seq], reason: 'asked for' }
      await eraseEntries({ ...api.remit, erasers: [] }, api.org.id, named)
    }
    await play({ ...api, clock }, [
      policy('2025-06-02', 'pol_deny', { effect: 'deny' }),
      change('2025-06-03', 'policy.deleted', { policy: { id: 'pol_deny' } }),
      decision('2026-02-02'),
    ])
    clock.set('2026-04-02T08:00:00.000Z')

    const before = await rulesInForce()
    if (order === 'before') await eraseFirst('policy.deleted', 'pol_deny')
    clock.set('2027-01-15T00:00:00.000Z')
    await play({ ...api, clock }, [decision('2027-01-15')])
    await prune(api, clock)
    if (order === 'after') await eraseFirst('state.carried', 'policy.deleted')
    const after = await rulesInForce()
    await api.remit.close()

    expect(before).toMatchObject({ population: 1, value: { deny_rules: 0, policies: 0 } })
    expect(after).toEqual(before)
  },
)
