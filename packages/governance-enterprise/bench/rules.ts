import type { AuthorizeRequest } from '@remit/contract'
import { DecisionMeter } from '@remit/core/decision'
import type { Ask } from '@remit/core/decision'
import { alternate, median, ratio } from '@remit/testing/bench'
import type { BenchTools, MeasuredServer, Result } from '@remit/testing/bench'
import { evaluatePolicies, snapshotOf } from '../src/policies/evaluate.ts'
import { ruleOf } from '../src/policies/policy.ts'
import { compileCondition } from '../src/rules/condition.ts'
import { microseconds as cpuOfDecisions, onTwoServers, send } from './budgets.ts'

const FEWEST = 10
const MOST = 10_000
const SIZES = [FEWEST, 100, 1_000, MOST]
/** CPU time advances in milliseconds, so a measurement needs many passes. */
const PASSES = 200

/**
 * Policies evaluated in process, by CPU time a decision, against a lower bound; and on a server, decisions with
 * observed rules and the plan of a policy set.
 */
export async function rulesSuite(tools: BenchTools): Promise<Result[]> {
  const { rounds } = tools
  // First, while memory is empty: growth is memory latency.
  const results = [await growth(rounds)]
  for (const size of SIZES) {
    const { rules, requests } = workload(size)
    const engines = { limit: closures(rules), ours: remit(rules) }
    const differing = requests.filter(
      (request) => engines.ours(askOf(request)) !== engines.limit(askOf(request)),
    )
    if (differing.length > 0) throw new Error(`${differing.length} of ${size} rules differ`)
    const measures = {
      limit: async () => microseconds(engines.limit, requests, PASSES),
      ours: async () => microseconds(engines.ours, requests, PASSES),
    }
    for (const measure of Object.values(measures)) await measure()
    const values = await alternate(rounds, measures)
    results.push({
      name: `${size} rules: of the closure limit`,
      value: ratio(values.ours, values.limit),
      goal: { below: 7 },
      detail: `${median(values.ours).toFixed(2)} us, limit ${median(values.limit).toFixed(2)}`,
    })
  }
  return [...results, ...(await onServers(tools))]
}

const OBSERVED = 10
const PLANNED = 1_000
const DECISIONS = 3_000

/** The CPU time of decisions with observed rules that match, of none; and the seconds of a plan. */
const onServers = (tools: BenchTools): Promise<Result[]> =>
  onTwoServers(tools, async (dialect, none, some) => {
    for (let i = 0; i < OBSERVED; i++) {
      const condition = `context.amount_usd < ${i + 1}.0`
      const body = { effect: 'deny', mode: 'observe', actions: ['pay'], condition }
      await send(some, 'POST', '/v1/policies', body)
    }
    const request = { agent_id: 'payer', action: 'pay', context: { amount_usd: 0.01 } }
    const tried = await send(some, 'POST', '/v1/compliance/policies/dry-run', request)
    if (tried.split('"would":"deny"').length !== OBSERVED + 1) throw new Error(tried)
    const measures = {
      none: () => cpuOfDecisions(none, 'payer', DECISIONS),
      observed: () => cpuOfDecisions(some, 'payer', DECISIONS),
    }
    for (const measure of Object.values(measures)) await measure()
    const values = await alternate(tools.rounds, measures)
    // Afterwards: a server that has made a plan has more to collect.
    const { plan } = await alternate(tools.rounds, { plan: () => secondsOfPlan(none) })
    return [
      {
        name: `${dialect}, ${OBSERVED} observed rules that match, of none`,
        value: ratio(values.observed, values.none),
        goal: { below: 1.05 },
        detail: `${median(values.observed).toFixed(0)} us, ${median(values.none).toFixed(0)} us`,
      },
      {
        name: `${dialect}, a plan of ${PLANNED} rules`,
        value: median(plan),
        unit: ' s',
        goal: { below: 2 },
        detail: plan.map((one) => one.toFixed(2)).join(', '),
      },
    ]
  })

let plans = 0

/** Seconds of the plan of a set; its conditions are new each time, so that no cache has them. */
async function secondsOfPlan(server: MeasuredServer): Promise<number> {
  plans++
  const documents = workload(PLANNED).rules.map((rule, i) => ({
    apiVersion: 'remit.dev/v1',
    kind: 'Policy',
    name: `rule-${i}`,
    spec: {
      effect: rule.effect,
      agents: [rule.agent],
      actions: [rule.action],
      condition: `${conditionOf(rule)} && context.plan != ${plans}`,
    },
  }))
  const began = performance.now()
  await send(server, 'POST', '/v1/policy-sets/main/plan', { documents })
  return (performance.now() - began) / 1000
}

/** The time per decision with the most rules, relative to that with the fewest, in the same rounds. */
async function growth(rounds: number): Promise<Result> {
  const [few, many] = [workload(FEWEST), workload(MOST)]
  const measure = (
    make: (rules: readonly PlainRule[]) => Engine,
    { rules, requests }: typeof few,
  ) => {
    const engine = make(rules)
    return async () => microseconds(engine, requests, PASSES)
  }
  const measures = {
    few: measure(remit, few),
    many: measure(remit, many),
    limitFew: measure(closures, few),
    limitMany: measure(closures, many),
  }
  // The rules of a server have survived collections, which compact long-lived objects.
  globalThis.gc?.()
  for (const run of Object.values(measures)) await run()
  const values = await alternate(rounds, measures)
  return {
    name: `${MOST} rules, of ${FEWEST}`,
    value: ratio(values.many, values.few),
    goal: { below: 2 },
    detail: `${median(values.many).toFixed(2)} us of ${median(values.few).toFixed(2)}; the limit, of its own: ${ratio(values.limitMany, values.limitFew).toFixed(2)}`,
  }
}

/** CPU time per decision; every pass has new requests. */
function microseconds(engine: Engine, requests: readonly PlainRequest[], passes: number): number {
  let spent = 0
  for (let pass = 0; pass < passes; pass++) {
    const asks = requests.map(askOf)
    const before = process.threadCpuUsage()
    for (const ask of asks) engine(ask)
    const { user, system } = process.threadCpuUsage(before)
    spent += user + system
  }
  return spent / passes / requests.length
}

/** Returns whether one engine allows a request. */
type Engine = (ask: Ask) => boolean

/** A request as on the decision path; always a new object, so that no cache knows it. */
const askOf = (request: PlainRequest): Ask => ({
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

const conditionOf = ({ above, currency }: PlainRule): string =>
  `context.amount > ${above} && context.currency == '${currency}'`

/** The evaluator of the policy stage. */
function remit(rules: readonly PlainRule[]): Engine {
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
function closures(rules: readonly PlainRule[]): Engine {
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

/** A rule as plain data that every engine translates. */
interface PlainRule {
  readonly effect: 'allow' | 'deny'
  readonly agent: string
  /** `svc.op` or `svc.*`. */
  readonly action: string
  /** The rule matches if `context.amount > above && context.currency == currency`. */
  readonly above: number
  readonly currency: string
}

interface PlainRequest extends AuthorizeRequest {
  readonly context: { readonly amount: number; readonly currency: string }
}

const CURRENCIES = ['USD', 'EUR', 'GBP'] as const
const OPERATIONS = 5

/** The same numbers in every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/**
 * `size` rules of one organization and 2,000 requests, each about one rule: 1 in 7 denies, half are
 * for one action and half for a whole service, 1 in 10 is for all agents. The default effect is
 * deny.
 */
function workload(size: number): {
  readonly rules: readonly PlainRule[]
  readonly requests: readonly PlainRequest[]
} {
  const random = randomFrom(size)
  const services = Math.max(1, Math.round(size / 10))
  const agents = Math.max(5, Math.round(size / 10))
  const agent = () => `agent${random(agents)}`
  const action = () => `svc${random(services)}.op${random(OPERATIONS)}`
  const currency = () => CURRENCIES[random(CURRENCIES.length)] ?? 'USD'
  const rules = Array.from({ length: size }, (_, i): PlainRule => ({
    effect: i % 7 === 0 ? 'deny' : 'allow',
    agent: i % 10 === 0 ? '*' : agent(),
    action: i % 2 === 0 ? action().replace(/\..*/, '.*') : action(),
    above: random(10_000),
    currency: currency(),
  }))
  const requests = Array.from({ length: 2_000 }, (): PlainRequest => ({
    agent_id: agent(),
    action: action(),
    context: { amount: random(12_000), currency: currency() },
  }))
  return { rules, requests }
}
