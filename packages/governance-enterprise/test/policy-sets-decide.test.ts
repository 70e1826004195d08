import { DIALECTS, runs } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const name = fc.constantFrom('a', 'b', 'c')
const pattern = fc.constantFrom('a', 'b', 'c', '*', 'a*')
const patterns = fc.array(pattern, { minLength: 1, maxLength: 2 })
const condition = fc.constantFrom(
  null,
  'context.n > 1.0',
  "context.t == 'x'",
  'amount_usd > 10.0',
  'agent_id == "a"',
)
const who = { agents: patterns, actions: patterns, condition }
const documentOf = <T extends object>(kind: string, spec: fc.Arbitrary<T>) =>
  fc.array(spec, { maxLength: 3 }).map((specs) =>
    specs.map((one, i) => ({
      apiVersion: 'remit.dev/v1',
      kind,
      name: `${kind}-${i}`,
      spec: one,
    })),
  )
const mode = fc.constantFrom('enforce', 'observe')
const documents = fc
  .tuple(
    documentOf('Policy', fc.record({ effect: fc.constantFrom('allow', 'deny'), mode, ...who })),
    documentOf('ApprovalRule', fc.record({ mode, ...who })),
    documentOf(
      'Permission',
      fc.record({
        agent_id: name,
        effect: fc.constantFrom('allow', 'deny'),
        actions: patterns,
        condition,
      }),
    ),
    documentOf('SpendLimit', fc.record({ agent_id: name, daily_usd: fc.constantFrom(5, 50) })),
    documentOf('Settings', fc.record({ default_effect: fc.constantFrom('allow', 'deny') })).map(
      (some) => some.slice(0, 1),
    ),
    documentOf(
      'AgentMode',
      fc.record({ agent_id: name, mode: fc.constantFrom('open', 'granted') }),
    ),
  )
  .map((kinds) =>
    kinds
      .flat()
      .filter(
        (one, at, all) =>
          !('agent_id' in one.spec && (one.kind === 'SpendLimit' || one.kind === 'AgentMode')) ||
          all.findIndex((other) => other.kind === one.kind && sameAgent(other.spec, one.spec)) ===
            at,
      ),
  )
const sameAgent = (a: object, b: object): boolean =>
  'agent_id' in a && 'agent_id' in b && a.agent_id === b.agent_id

const requests = fc.array(
  fc.record({
    agent_id: name,
    action: name,
    context: fc.record(
      {
        n: fc.constantFrom(1, 2),
        t: fc.constantFrom('x', 'y'),
        amount_usd: fc.constantFrom(1, 20),
      },
      { requiredKeys: [] },
    ),
  }),
  { minLength: 8, maxLength: 8 },
)

describe.each(DIALECTS)('tests of policy sets on %s', (dialect) => {
  let root: Api
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())

  it('decide as the organization does once the set is applied', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(documents, documents, requests, async (first, second, asked) => {
        const api = root.as(await root.remit.organization())
        const params = { id: 'main' }
        const cases = asked.map((request, i) => ({
          name: `${i}`,
          request,
          expect: { decision: 'allow' },
        }))
        const tests = { apiVersion: 'remit.dev/v1', kind: 'Tests', name: 'all', spec: { cases } }
        const plan = async (docs: object[]) => {
          const body = { documents: docs, allow_empty: true }
          return [body, await api.ok('planPolicySet', { params, body })] as const
        }
        const apply = async (docs: object[]) => {
          const [body, { plan_digest }] = await plan(docs)
          await api.ok('applyPolicySet', { params, body: { ...body, plan_digest } })
        }
        // A revoked permission keeps its id, so that only the second set has permissions.
        await apply(first.filter(({ kind }) => kind !== 'Permission'))
        const [, planned] = await plan([...second, tests])
        await apply(second)

        // A preview decides as a live request does.
        const live = await api.remit.decider.preview(api.org.id, 'enterprise', asked)
        for (const { name: i, got } of planned.tests.cases) {
          const { decision, reason, matched } = live[Number(i)]!
          const rules = matched.flatMap(({ kind, id }) => (kind === 'spend_limit' ? [] : [id]))
          expect([asked[Number(i)], got]).toEqual([
            asked[Number(i)],
            { decision, reason, matched: rules },
          ])
        }
      }),
      { numRuns: runs(40, 3) },
    )
  })
})
