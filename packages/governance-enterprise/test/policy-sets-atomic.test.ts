import { on } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { recording } from '@remit/core/ledger/lanes'
import { defineModule } from '@remit/core/module'
import type { Deps } from '@remit/core/module'
import { OPERATOR, setLimits, updateSettings } from '@remit/core/orgs'
import { apiOf, createTestRemit, fullDialects, runs, someDialects } from '@remit/testing'
import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import governance from '../src/index.ts'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const document = (kind: string, name: string, spec: object) => ({
  apiVersion: 'remit.dev/v1',
  kind,
  name,
  spec,
})
const DOCUMENTS = runs(2_000, 200)
const DECISIONS = runs(10_000, 400)
const APPLIED = runs(6, 3)
/** An entry has at most 20 observed rules. */
const OBSERVED = 12

/** Rules that a decision records whether it sees them all: each version has its own verdicts. */
const versionOf = (version: 'allow' | 'deny') => [
  document('Settings', 'settings', { default_effect: version }),
  ...Array.from({ length: OBSERVED }, (_, i) =>
    document('Policy', `seen-${i}`, { effect: version, mode: 'observe' }),
  ),
  ...(version === 'deny'
    ? [1, 2, 3, 4].map((i) => document('ApprovalRule', `seen-${i}`, { mode: 'observe' }))
    : []),
  ...Array.from({ length: DOCUMENTS - OBSERVED - 5 }, (_, i) =>
    document('Policy', `other-${i}`, {
      effect: version,
      actions: [`other.${i}`],
      condition: `context.amount_usd > ${i}.0`,
    }),
  ),
]

describe.each(fullDialects())('policy sets on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  const params = { id: 'main' }
  const configVersion = async () => {
    const head = await on<CoreTables>(api.remit.db)
      .selectFrom('ledger_head')
      .select('config_version')
      .where('org_id', '=', api.org.id)
      .executeTakeFirstOrThrow()
    return head.config_version
  }
  const apply = async (version: 'allow' | 'deny') => {
    const documents = versionOf(version)
    const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents } })
    const before = await configVersion()
    await api.ok('applyPolicySet', { params, body: { documents, plan_digest } })
    expect(await configVersion()).toBe(before + 1)
  }

  it(
    'are applied in one version: decisions see the old or the new rules, never a mixture',
    { timeout: 600_000 },
    async () => {
      await apply('allow')
      const applying = { isOver: false }
      const answers: { decision: string; seq: number }[] = []
      const decide = async () => {
        while (!applying.isOver || answers.length < DECISIONS) {
          const body = { agent_id: 'a', action: 'x' }
          const { decision, ledger } = await api.ok('authorize', { body })
          answers.push({ decision, seq: ledger.seq })
        }
      }
      const deciders = Array.from({ length: 8 }, decide)
      for (let i = 0; i < APPLIED; i++) await apply(i % 2 === 0 ? 'deny' : 'allow')
      applying.isOver = true
      await Promise.all(deciders)

      const seen = new Set<string>()
      for (const { decision, seq } of answers) {
        const { data } = await api.ok('getEntry', { params: { seq } })
        const { observed = [], observed_incomplete: incomplete } = data as Observed
        if (incomplete) continue
        const would = observed.map((one) => `${one.kind} ${one.would}`).toSorted()
        const rules = [...Map.groupBy(would, (one) => one)].map(
          ([one, all]) => `${all.length} ${one}`,
        )
        seen.add([decision, ...rules].join(', '))
      }
      expect(seen).toEqual(
        new Set([
          `allow, ${OBSERVED} policy allow`,
          `deny, 4 approval_rule needs_approval, ${OBSERVED} policy deny`,
        ]),
      )
    },
  )

  // SQLite has a single process.
  it.skipIf(dialect === 'sqlite')(
    'are applied once by two processes',
    { timeout: 120_000 },
    async () => {
      const { url, signingKey } = api.remit
      const remit = await createTestRemit({ url, signingKey, modules: [governance] })
      const second = apiOf(remit, api.org)
      for (let round = 0; round < 5; round++) {
        const spec = { effect: 'deny', actions: [`round.${round}`] }
        const documents = [document('Policy', `round-${round}`, spec)]
        const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents } })
        const body = { documents, plan_digest }
        const answers = await Promise.all(
          [api, second].map((one) => one.call('applyPolicySet', { params, body })),
        )
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
      }
      await remit.close()
    },
  )
})

describe.each(someDialects())('apply on %s', (dialect) => {
  let root: Api
  let api: Api
  /** Runs while a plan with the document `SLOW` is compared: after its version was read, before its tests. */
  let meanwhile: () => Promise<unknown> = () => Promise.resolve()
  let decider: Deps['decider']
  const slow = defineModule({
    name: 'slow',
    setup: (deps) => {
      ;({ decider } = deps)
      return {
        documents: [
          {
            kind: 'TrustPolicy',
            idOf: (name: string) => name,
            list: async (db: AnyDatabase) => {
              // In the transaction of the apply, a change would wait for its end.
              if (!on<CoreTables>(db).isTransaction) await meanwhile()
              return []
            },
            admit: () => ({ warnings: () => [], set: () => recording() }),
            remove: null,
            changesOf: () => [],
          },
        ],
      }
    },
  })
  const SLOW = document('TrustPolicy', 'slow', { effect: 'deny' })
  beforeAll(async () => {
    root = await createApi({ dialect, modules: [governance, slow] })
  })
  afterAll(() => root.remit.close())
  beforeEach(async () => {
    api = root.as(await root.remit.organization())
  })

  const params = { id: 'main' }
  const bodyOf = async (documents: object[]) => {
    const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents } })
    return { documents, plan_digest }
  }
  const apply = async (documents: object[]) =>
    api.ok('applyPolicySet', { params, body: await bodyOf(documents) })
  const policy = (name: string) => document('Policy', name, { effect: 'allow', actions: ['a'] })
  const configure = (settings: object) => api.ok('changeOrganization', { body: { settings } })
  /** The first comparisons of the next apply are overtaken by a change. */
  const overtake = (times: number, change: (at: number) => Promise<unknown>) => {
    let at = 0
    meanwhile = async () => {
      if (at < times) await change(at++)
    }
    return () => at
  }

  it('tests again if the configuration changes meanwhile, at most three times', async () => {
    const body = await bodyOf([SLOW, policy('p')])
    const retain = (at: number) => configure({ retention_days: 400 + at })
    const all = overtake(10, retain)
    const refused = await api.refusal('applyPolicySet', { params, body })
    expect(refused).toMatchObject({ status: 409, code: 'plan_stale' })
    expect(all()).toBe(3)
    expect((await api.ok('listPolicies')).data).toEqual([])

    const two = overtake(2, retain)
    await api.ok('applyPolicySet', { params, body })
    expect(two()).toBe(2)
  })

  it('is refused by a test that a change meanwhile fails', async () => {
    const expected = { decision: 'allow' }
    const request = { agent_id: 'x', action: 'a' }
    const tests = document('Tests', 't', { cases: [{ name: 'a', request, expect: expected }] })
    const body = await bodyOf([policy('p'), tests])
    const preview = decider.preview.bind(decider)
    // The tests of the first attempt pass, and are out of date after it.
    vi.spyOn(decider, 'preview').mockImplementationOnce(async (...asked) => {
      const previews = await preview(...asked)
      await api.ok('createPolicy', { body: { effect: 'deny' } })
      return previews
    })
    expect((await api.refusal('applyPolicySet', { params, body })).code).toBe('tests_failed')
  })

  it('deletes first, so that a limit counts what is left', async () => {
    await setLimits(root.remit.writer, api.org.id, { policies: 1 })
    await apply([policy('before')])
    const { changes } = await apply([policy('after')])
    expect(changes.map(({ change }) => change)).toEqual(['delete', 'create'])
  })

  it('keeps the lock of a set, whose objects the operator of the server may change', async () => {
    const settings = document('Settings', 'settings', { four_eyes: true })
    await apply([settings])
    await api.ok('lockPolicySet', { params, body: { locked: true } })
    const applied = await apply([settings, policy('p')])
    expect(applied.revision).toBe(2)
    const refused = { body: { settings: { four_eyes: false } } }
    expect(await api.refusal('changeOrganization', refused)).toMatchObject({
      code: 'managed_by_policy_set',
    })
    await updateSettings(root.remit.writer, api.org.id, OPERATOR, { four_eyes: false })
    expect(await api.ok('getPolicySet', { params })).toMatchObject({
      locked: true,
      drift: [{ kind: 'Settings', change: 'changed', by: 'remit' }],
    })
  })

  it('is 503 and changes nothing while the ledger cannot be written', async () => {
    const body = await bodyOf([policy('p')])
    const rename = (from: string, to: string) =>
      root.remit.db.executeQuery(CompiledQuery.raw(`alter table ${from} rename to ${to}`))
    await rename('ledger_entry', 'away')
    const refused = await (async () => {
      try {
        return await api.refusal('applyPolicySet', { params, body })
      } finally {
        await rename('away', 'ledger_entry')
      }
    })()
    // PostgreSQL receives the COMMIT with the last rows, and is asked what became of it.
    const code = dialect === 'sqlite' ? 'ledger_unavailable' : 'outcome_unknown'
    expect(refused).toMatchObject({ status: 503, code })
    expect((await api.ok('listPolicies')).data).toEqual([])
    expect((await api.ok('listPolicySets')).data).toEqual([])
    await api.ok('applyPolicySet', { params, body })
  })

  it('has no replay where no module replays, and the plan says so', async () => {
    const replay = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }
    const body = { documents: [policy('p')], replay }
    expect(await api.ok('planPolicySet', { params, body })).toMatchObject({
      replay: null,
      warnings: ['this server cannot replay decisions'],
    })
  })
})

interface Observed {
  readonly observed?: readonly { readonly kind: string; readonly would: string }[]
  readonly observed_incomplete?: boolean
}
