import { preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs'
import { DecisionMeter } from '@remit/core/decision'
import type { Ask } from '@remit/core/decision'
import { newEnforcer, newModel } from 'casbin'
import { evaluatePolicies, snapshotOf } from '../src/policies/evaluate.ts'
import { ruleOf } from '../src/policies/policy.ts'
import { compileCondition } from '../src/rules/condition.ts'
import type { PlainRequest, PlainRule } from './workload.ts'

/** Returns whether one engine allows a request. */
export type Engine = (ask: Ask) => boolean

/** A request as on the decision path; always a new object, so that no cache knows it. */
export const askOf = (request: PlainRequest): Ask => ({
  orgId: 'org_bench',
  plan: 'enterprise',
  decisionId: 'dec_bench',
  caller: null,
  request,
  claims: {},
  resource: null,
  now: 0,
  meter: new DecisionMeter(),
})

export const conditionOf = ({ above, currency }: PlainRule): string =>
  `context.amount > ${above} && context.currency == '${currency}'`

/** The evaluator of the policy stage. */
export function remit(rules: readonly PlainRule[]): Engine {
  const snapshot = snapshotOf(
    rules.map((rule, i) =>
      ruleOf(
        {
          effect: rule.effect,
          description: null,
          agents: [rule.agent],
          actions: [rule.action],
          resources: ['*'],
          not_before: null,
          expires_at: null,
        },
        `pol_${i}`,
        compileCondition(conditionOf(rule)),
      ),
    ),
    'deny',
  )
  const meter = { isOver: () => false }
  return (ask) => evaluatePolicies(snapshot, ask, meter).verdict === 'allow'
}

type Holds = (context: PlainRequest['context']) => boolean

/** The lower bound: a hand-written index, with each condition as a line of JavaScript. */
export function closures(rules: readonly PlainRule[]): Engine {
  const index = (effect: string) => {
    const byAgent = new Map<string, Map<string, Holds[]>>()
    for (const { agent, action, above, currency } of rules.filter((r) => r.effect === effect)) {
      const byAction = byAgent.get(agent) ?? new Map<string, Holds[]>()
      byAgent.set(agent, byAction)
      const all = byAction.get(action) ?? []
      byAction.set(action, all)
      all.push((context) => context.amount > above && context.currency === currency)
    }
    return byAgent
  }
  const [deny, allow] = [index('deny'), index('allow')]
  const matches = (byAgent: typeof deny, { agent_id, action, context }: PlainRequest): boolean => {
    const service = `${action.slice(0, action.indexOf('.'))}.*`
    for (const agent of [agent_id, '*']) {
      const byAction = byAgent.get(agent)
      if (!byAction) continue
      for (const key of [action, service]) {
        for (const holds of byAction.get(key) ?? []) if (holds(context)) return true
      }
    }
    return false
  }
  return ({ request }) => {
    const plain = request as PlainRequest
    return !matches(deny, plain) && matches(allow, plain)
  }
}

/** Cedar's reference engine in WebAssembly, all policies in one set that is parsed beforehand. */
export function cedar(rules: readonly PlainRule[]): Engine {
  const id = `bench ${rules.length}`
  const text = (rule: PlainRule): string => {
    const principal = rule.agent === '*' ? 'principal' : `principal == Agent::"${rule.agent}"`
    const action = rule.action.endsWith('.*')
      ? `action in Action::"${rule.action.slice(0, -2)}"`
      : `action == Action::"${rule.action}"`
    const when = `context.amount > ${rule.above} && context.currency == "${rule.currency}"`
    return `${rule.effect === 'allow' ? 'permit' : 'forbid'}(${principal}, ${action}, resource) when { ${when} };`
  }
  const staticPolicies = Object.fromEntries(rules.map((rule, i) => [`p${i}`, text(rule)]))
  const parsed = preparsePolicySet(id, { staticPolicies })
  if (parsed.type === 'failure') throw new Error(JSON.stringify(parsed.errors.slice(0, 1)))
  return ({ request }) => {
    const { agent_id, action, context } = request as PlainRequest
    const answer = statefulIsAuthorized({
      principal: { type: 'Agent', id: agent_id },
      action: { type: 'Action', id: action },
      resource: { type: 'Resource', id: 'none' },
      context: { ...context },
      preparsedPolicySetId: id,
      entities: [
        {
          uid: { type: 'Action', id: action },
          attrs: {},
          parents: [{ type: 'Action', id: action.slice(0, action.indexOf('.')) }],
        },
      ],
    })
    return answer.type === 'success' && answer.response.decision === 'allow'
  }
}

const MODEL = `
[request_definition]
r = agent, action, amount, currency
[policy_definition]
p = agent, action, above, currency, eft
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = (p.agent == "*" || r.agent == p.agent) && keyMatch(r.action, p.action) && r.amount > p.above && r.currency == p.currency
`

/** casbin with one line per rule. */
export async function casbin(rules: readonly PlainRule[]): Promise<Engine> {
  const enforcer = await newEnforcer(newModel(MODEL))
  await enforcer.addPolicies(
    rules.map((rule, i) => [
      rule.agent,
      rule.action,
      // Equal lines are merged; a fraction without effect on the result keeps them distinct.
      `${rule.above}.${String(i).padStart(6, '0')}`,
      rule.currency,
      rule.effect,
    ]),
  )
  return ({ request }) => {
    const { agent_id, action, context } = request as PlainRequest
    return enforcer.enforceSync(agent_id, action, context.amount, context.currency)
  }
}
