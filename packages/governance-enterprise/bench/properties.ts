import { ApprovalRuleInput, PolicyInput, PropertySpec } from '@remit/contract'
import { decide, judge } from '@remit/core/decision'
import type { Ask } from '@remit/core/decision'
import { alternate, median, ratio } from '@remit/testing/bench'
import type { BenchTools, Result } from '@remit/testing/bench'
import { storedRule } from '../src/approvals/rule.ts'
import { toRow } from '../src/policies/policy.ts'
import { casesOf } from '../src/properties/cases.ts'
import { RuleStages } from '../src/properties/rules.ts'
import type { StoredRules } from '../src/properties/rules.ts'
import { Search } from '../src/properties/search-job.ts'
import { spaceOf } from '../src/properties/space.ts'

const NOW = Date.parse('2026-11-20T08:00:00.000Z')
const CASES = 50_000
const MADE = { org_id: 'org', created_at: '', created_by: '', updated_at: '', revision: 1 }
const NEVER_OVER = { isOver: () => false }

/** The search of a property that holds, against its requests decided by the same stages alone. */
export async function propertiesSuite({ rounds }: BenchTools): Promise<Result[]> {
  const stages = new RuleStages(rules(), { add: [], remove: [] })
  const spec = PropertySpec.parse({
    for: { actions: ['pay.*'] },
    never: 'allow',
    max_cases: CASES,
  })
  const asks = asksOf(stages, spec)
  const measures = {
    stages: async () =>
      microseconds(() => {
        for (const ask of asks) {
          const judged = judge(ask, stages.slots)
          stages.asked(ask, judged.matched?.get('approval_rule'))
          decide(ask, stages.slots, judged)
        }
        return asks.length
      }),
    search: async () =>
      microseconds(() => {
        const result = new Search('org', stages, { name: 'held', spec }, NOW, Infinity).result()
        if (result.result === 'violated') throw new Error('the property of the suite must hold')
        return result.cases
      }),
  }
  for (const measure of Object.values(measures)) await measure()
  const values = await alternate(rounds, measures)
  return [
    {
      name: 'search of a property: speed of the pure stages',
      value: ratio(values.stages, values.search),
      goal: { atLeast: 0.5 },
      detail: `${median(values.search).toFixed(2)} us of ${median(values.stages).toFixed(2)} a case`,
    },
  ]
}

/** CPU time of one of the cases that `run` decides. */
function microseconds(run: () => number): number {
  const before = process.threadCpuUsage()
  const cases = run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / cases
}

/** The requests of the search, ready to be judged. */
function asksOf(stages: RuleStages, spec: PropertySpec): Ask[] {
  const ask = (
    agentId: string,
    action: string,
    resource: string | null,
    context: object,
    now: number,
  ): Ask => ({
    orgId: 'org',
    plan: 'enterprise',
    decisionId: 'dec_bench',
    caller: null,
    request: {
      agent_id: agentId,
      action,
      context: { ...context },
      ...(resource !== null && { resource }),
    },
    claims: {},
    resource,
    now,
    meter: NEVER_OVER,
  })
  const space = spaceOf({
    scope: spec.for,
    rules: stages.about(spec.for),
    granted: stages.authority.granted,
    agents: [],
    now: NOW,
    askWith: (context) => ask('x', 'x', null, context, NOW),
    isOver: NEVER_OVER.isOver,
  })
  const asks: Ask[] = []
  for (const { agent, action, resource, context, at } of casesOf(space, CASES, NEVER_OVER.isOver)
    .cases) {
    asks.push(ask(agent, action, resource, Object.fromEntries(context.flat()), at))
    if (asks.length === CASES) break
  }
  return asks
}

/** Forty policies and ten approval rules about payments; nothing is allowed without an approval. */
function rules(): StoredRules {
  const currencies = ['USD', 'EUR', 'GBP', 'CHF']
  const policies = Array.from({ length: 40 }, (_, i) =>
    PolicyInput.parse({
      effect: i % 5 === 0 ? 'deny' : 'allow',
      agents: [i % 3 === 0 ? '*' : `team${i % 4}.*`],
      actions: [i % 2 === 0 ? 'pay.*' : `pay.send${i % 8}`],
      condition: `context.amount <= ${1 + i * 20} && context.currency == '${currencies[i % 4]}'`,
    }),
  )
  const approvals = Array.from({ length: 10 }, (_, i) =>
    ApprovalRuleInput.parse({
      actions: ['pay.*'],
      ...(i > 0 && { condition: `context.country == 'C${i}'` }),
    }),
  )
  return {
    policies: policies.map((policy, i) => toRow(policy, { ...MADE, id: `p${i}` })),
    approvalRules: approvals.map((rule, i) => ({ ...MADE, ...storedRule(rule), id: `a${i}` })),
    permissions: [],
    granted: [],
    agents: [],
    defaultEffect: 'deny',
  }
}
