import { on } from '@remit/core/db'
import type { CoreTables } from '@remit/core/db'
import { apiOf, createTestRemit, fullDialects, runs } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

interface Observed {
  readonly observed?: readonly { readonly kind: string; readonly would: string }[]
  readonly observed_incomplete?: boolean
}
