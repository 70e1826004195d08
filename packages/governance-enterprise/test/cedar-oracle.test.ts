import { statefulIsAuthorized, preparsePolicySet } from '@cedar-policy/cedar-wasm/nodejs'
import fc from 'fast-check'
import { runs } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { snapshotOf } from '../src/policies/evaluate.ts'
import { matchRule } from '../src/rules/rule-index.ts'
import { aPolicy, verdictOf } from './support/policies.ts'
import { anAsk } from './support/rules.ts'

/** A condition that both languages can say. */
interface Shared {
  readonly cel: string
  readonly cedar: string
}

const same = (text: string): Shared => ({ cel: text, cedar: text.replaceAll("'", '"') })
const NUMBERS = ['amount', 'count']
const TEXTS = ['currency', 'vendor']

const comparison = fc
  .tuple(
    fc.constantFrom(...NUMBERS),
    fc.constantFrom('<', '<=', '>', '>=', '=='),
    fc.constantFrom(0, 10, 11),
  )
  .map(([name, operator, number]) => same(`context.${name} ${operator} ${number}`))
const equality = fc
  .tuple(fc.constantFrom(...TEXTS, 'amount'), fc.constantFrom("'USD'", "'acme'"))
  .map(([name, text]) => same(`context.${name} == ${text}`))
const presence = fc.constantFrom(...NUMBERS, ...TEXTS).map((name) => ({
  cel: `has(context.${name})`,
  cedar: `context has ${name}`,
}))
const membership = fc.constantFrom(...TEXTS).map((name) => ({
  cel: `context.${name} in ['USD', 'EUR']`,
  cedar: `["USD", "EUR"].contains(context.${name})`,
}))

const { shared } = fc.letrec<{ shared: Shared }>((tie) => ({
  shared: fc.oneof(
    { maxDepth: 2 },
    fc.oneof(comparison, equality, presence, membership),
    fc.tuple(tie('shared'), fc.constantFrom('&&', '||'), tie('shared')).map(([a, operator, b]) => ({
      cel: `(${a.cel}) ${operator} (${b.cel})`,
      cedar: `(${a.cedar}) ${operator} (${b.cedar})`,
    })),
  ),
}))

const AGENTS = ['a', 'b']
const ACTIONS = ['pay.send', 'pay.read', 'mail.send']

const rule = fc.record({
  effect: fc.constantFrom('allow' as const, 'deny' as const),
  agent: fc.constantFrom(...AGENTS, '*'),
  action: fc.constantFrom(...ACTIONS, 'pay.*', 'mail.*', '*'),
  condition: fc.option(shared, { freq: 6 }),
})
type Of<A> = A extends fc.Arbitrary<infer T> ? T : never
type SharedRule = Of<typeof rule>

const request = fc.record({
  agent_id: fc.constantFrom(...AGENTS),
  action: fc.constantFrom(...ACTIONS),
  context: fc.record(
    {
      amount: fc.oneof(fc.constantFrom(0, 10, 11, 12), fc.constant('USD')),
      count: fc.constantFrom(0, 10, 11),
      currency: fc.constantFrom('USD', 'EUR', 'GBP'),
      vendor: fc.constantFrom('acme', 'USD'),
    },
    { requiredKeys: [] },
  ),
})

const toPolicy = ({ effect, agent, action, condition }: SharedRule) =>
  aPolicy({ effect, agents: [agent], actions: [action], condition: condition?.cel ?? null })

/** `svc.*` is every action in the group of the service; `*` is no constraint. */
function toCedar({ effect, agent, action, condition }: SharedRule): string {
  const principal = agent === '*' ? 'principal' : `principal == Agent::"${agent}"`
  const service = action.replace(/\.\*$/, '')
  const scope =
    action === '*'
      ? 'action'
      : action === service
        ? `action == Action::"${action}"`
        : `action in Action::"${service}"`
  const when = condition ? ` when { ${condition.cedar} }` : ''
  return `${effect === 'allow' ? 'permit' : 'forbid'}(${principal}, ${scope}, resource)${when};`
}

const ENTITIES = ACTIONS.map((id) => ({
  uid: { type: 'Action', id },
  attrs: {},
  parents: [{ type: 'Action', id: id.split('.')[0] ?? '' }],
}))

function askCedar(rules: readonly SharedRule[], asked: Of<typeof request>) {
  const staticPolicies = Object.fromEntries(rules.map((one, i) => [`r${i}`, toCedar(one)]))
  const parsed = preparsePolicySet('oracle', { staticPolicies })
  if (parsed.type === 'failure') throw new Error(JSON.stringify(parsed.errors))
  const answer = statefulIsAuthorized({
    principal: { type: 'Agent', id: asked.agent_id },
    action: { type: 'Action', id: asked.action },
    resource: { type: 'Resource', id: 'none' },
    context: asked.context,
    preparsedPolicySetId: 'oracle',
    entities: ENTITIES,
  })
  if (answer.type === 'failure') throw new Error(JSON.stringify(answer.errors))
  const { decision, diagnostics } = answer.response
  return { decision, failed: diagnostics.errors.map(({ policyId }) => Number(policyId.slice(1))) }
}

describe('policies compared with Cedar', () => {
  it(
    'decide alike where no condition fails; where a forbid fails, Cedar skips it and we deny',
    { timeout: 300_000 },
    () => {
      const seen = { allow: 0, deny: 0, 'deny failed': 0, 'allow failed': 0 }
      fc.assert(
        fc.property(fc.array(rule, { maxLength: 6 }), request, (rules, asked) => {
          const policies = rules.map(toPolicy)
          const ours = verdictOf(snapshotOf(policies, 'deny'), anAsk(asked))
          const { decision, failed } = askCedar(rules, asked)

          if (failed.length === 0) seen[decision]++
          const agree = failed.length > 0 || (ours === 'allow') === (decision === 'allow')
          const answers = failed.flatMap((i) => {
            const policy = policies[i]
            return policy ? [{ policy, answer: matchRule(policy, anAsk(asked)) }] : []
          })
          // CEL lets one side of `&&` and `||` settle it where the other fails; Cedar does not.
          const absorbed = answers.filter(({ answer }) => answer !== 'error')
          const explained = absorbed.every(({ policy }) =>
            /&&|\|\|/.test(policy.condition?.text ?? ''),
          )
          const broken = answers.filter(({ answer }) => answer === 'error')
          for (const { policy } of broken) seen[`${policy.effect} failed`]++
          const closed =
            broken.every(({ policy }) => policy.effect === 'allow') ||
            ['deny', 'error'].includes(ours)
          expect({ agree, explained, closed }).toEqual({
            agree: true,
            explained: true,
            closed: true,
          })
        }),
        { numRuns: runs(1_500, 500) },
      )
      for (const times of Object.values(seen)) expect(times).toBeGreaterThan(runs(20, 4))
    },
  )
})
