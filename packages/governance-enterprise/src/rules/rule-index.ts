import { covers } from './pattern.ts'
import type { Rule } from './rule.ts'

/** Rules by the key of their action: an exact name, `svc.` for the pattern `svc.*`, or everything else. */
interface Bucket<R> {
  readonly exact: Map<string, R[]>
  readonly prefixes: Map<string, R[]>
  readonly others: R[]
}

// A rule stands under every pair of its agents and actions; one with more pairs stands under its actions.
const MAX_PAIRS = 64
const PREFIX = /^[^*]*\.\*$/

/**
 * Rules by agent and action, so that a decision looks at the few that may be about it. Immutable.
 * Agent patterns other than exact ones and action patterns other than `svc.*` are looked at always.
 */
export class RuleIndex<R extends Rule> {
  readonly size: number
  readonly #byAgent = new Map<string, Bucket<R>>()
  readonly #anyAgent: Bucket<R> = emptyBucket()

  private constructor(rules: readonly R[]) {
    this.size = rules.length
    for (const rule of rules) this.#add(rule)
  }

  static of<R extends Rule>(rules: readonly R[]): RuleIndex<R> {
    return new RuleIndex(rules)
  }

  /** Every rule that may match, each once; whether it does is for `matchRule` to say. */
  candidates(agentId: string, action: string): readonly R[] {
    const found: R[] = []
    const own = this.#byAgent.get(agentId)
    if (own) collect(own, action, found)
    collect(this.#anyAgent, action, found)
    return found
  }

  #add(rule: R): void {
    const actions = widest(rule.actions)
    const agents = widest(rule.agents)
    if (isForAnyAgent(agents, actions)) {
      put(this.#anyAgent, actions, rule)
      return
    }
    for (const agent of agents) {
      const bucket = this.#byAgent.get(agent) ?? emptyBucket()
      this.#byAgent.set(agent, bucket)
      put(bucket, actions, rule)
    }
  }
}

/** Whether a rule is a candidate for every request, so that many such rules make every decision slow. */
export const isBroad = ({ agents, actions }: Pick<Rule, 'agents' | 'actions'>): boolean =>
  isForAnyAgent(widest(agents), widest(actions)) && widest(actions).some(isOther)

const isForAnyAgent = (agents: readonly string[], actions: readonly string[]): boolean =>
  agents.some((pattern) => pattern.includes('*')) || agents.length * actions.length > MAX_PAIRS

const isOther = (action: string): boolean => action.includes('*') && !PREFIX.test(action)

const emptyBucket = <R>(): Bucket<R> => ({ exact: new Map(), prefixes: new Map(), others: [] })

/** The patterns that no other of the list covers: of those, at most one kind of key fits a name. */
function widest(patterns: readonly string[]): readonly string[] {
  const different = [...new Set(patterns)]
  if (different.length === 1) return different
  return different.filter((one, i) =>
    different.every((other, j) => i === j || !covers(other, one) || (covers(one, other) && i < j)),
  )
}

function put<R>(bucket: Bucket<R>, actions: readonly string[], rule: R): void {
  // Under `others` once, whatever else its list has: a rule is a candidate once.
  if (actions.some(isOther)) {
    bucket.others.push(rule)
    return
  }
  for (const action of actions) {
    if (action.includes('*')) push(bucket.prefixes, action.slice(0, -1), rule)
    else push(bucket.exact, action, rule)
  }
}

function push<R>(map: Map<string, R[]>, key: string, rule: R): void {
  const rules = map.get(key)
  if (rules) rules.push(rule)
  else map.set(key, [rule])
}

function collect<R>({ exact, prefixes, others }: Bucket<R>, action: string, found: R[]): void {
  const same = exact.get(action)
  if (same) for (const rule of same) found.push(rule)
  if (prefixes.size > 0) {
    for (let dot = action.indexOf('.'); dot !== -1; dot = action.indexOf('.', dot + 1)) {
      const wider = prefixes.get(action.slice(0, dot + 1))
      if (wider) for (const rule of wider) found.push(rule)
    }
  }
  for (const rule of others) found.push(rule)
}
