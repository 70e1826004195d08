import { describe, expect, it } from 'vitest'
import { anAsk, aRule } from '../../test/support/rules.ts'
import { compileCondition } from '../rules/condition.ts'
import { RuleIndex } from '../rules/rule-index.ts'
import { matching, rulesByMode } from './rule.ts'
import type { CompiledApprovalRule } from './rule.ts'

/** Conditions with each of the three answers. */
const ANSWERS = { T: 'true', F: 'false', E: 'context.missing == 1' } as const
const KINDS = ['T', 'F', 'E'] as const
type Kind = (typeof KINDS)[number]

/** Every row of up to `size` kinds; some come more than once. */
const rows = (size: number): Kind[][] =>
  size === 0 ? [[]] : [[], ...KINDS.flatMap((kind) => rows(size - 1).map((row) => [kind, ...row]))]

const ruleOf = (kind: Kind, i: number): CompiledApprovalRule => ({
  ...aRule({ id: `${i} ${kind}`, condition: ANSWERS[kind] }),
  requirement: {
    rule_id: `${i} ${kind}`,
    description: null,
    required: 1,
    required_rejections: 1,
    approvers: null,
    prevent_self_approval: true,
    reason_required: false,
  },
  requestTtlSeconds: 60,
  approvalTtlSeconds: 60,
  cooldownSeconds: 60,
  bindingContext: null,
})

describe('the rules that ask for an approval', () => {
  it('are those that match and those that cannot tell, in every row of up to four rules', () => {
    for (const row of rows(4)) {
      const asking = matching(RuleIndex.of(row.map(ruleOf)), anAsk())

      const expected = row.map(ruleOf).filter(({ id }) => !id.endsWith('F'))
      expect(
        asking.map(({ id }) => id),
        row.join(''),
      ).toEqual(expected.map(({ id }) => id))
      for (const { id, requirement } of asking)
        expect(requirement.condition_failed ?? false, row.join('')).toBe(id.endsWith('E'))
    }
  })

  it('read the facts of each reading of a name once, whatever their number', () => {
    let reads = 0
    const args = {
      get list() {
        reads++
        return ['x']
      },
    }
    const ask = anAsk({ context: { args, tool: 'b__c' } })
    const readings = [{ resource: 'tool:c', context: { tool: 'c' } }]
    const rules = Array.from({ length: 20 }, (_, i) => ({
      ...ruleOf('F', i),
      condition: compileCondition(
        `context.args.list.exists(x, x == "${i}") || context.tool == "c"`,
      ),
    }))

    const asking = matching(RuleIndex.of(rules), { ...ask, claims: { readings } })

    expect({ asking: asking.length, reads }).toEqual({ asking: 20, reads: 2 })
  })

  it('are not marked as failed where the condition holds in another reading', () => {
    const readings = [{ resource: 'tool:c', context: { missing: 1 } }]
    const rules = RuleIndex.of([ruleOf('E', 0)])

    const [asking] = matching(rules, { ...anAsk(), claims: { readings } })

    expect(asking?.requirement.condition_failed).toBeUndefined()
  })

  it('do not include disabled ones', () => {
    const document = { enabled: false, agents: ['*'], actions: ['*'], resources: ['*'] }

    const row = { id: 'r', document: JSON.stringify(document), observed: 0 } as never

    expect(rulesByMode([row])).toEqual({ enforce: [], observe: [] })
  })
})
