import { covers } from './pattern.ts'
import type { Rule } from './rule.ts'

/** Rules for some actions: those for any agent, and those for one, by the agent's number. */
interface Node<R> {
  readonly anyAgent: R[]
  readonly byAgent: Map<number, R[]>
}

// A rule stands under every pair of its agents and actions; one with more pairs stands under its actions.
const MAX_PAIRS = 64
const PREFIX = /^[^*]*\.\*$/

/**
 * Rules by action and agent, so that a decision looks at the few that may be about it. Immutable.
 * Action patterns other than exact ones and `svc.*`, and agent patterns other than exact ones, are
 * looked at always.
 */
export class RuleIndex<R extends Rule> {
  readonly size: number
  readonly #exact = new Map<string, Node<R>>()
  /** By what stands before the asterisk: `svc.` */
  readonly #prefixes = new Map<string, Node<R>>()
  readonly #anyAction: Node<R> = emptyNode()
  /** Numbers compare without a look at a text that lies elsewhere in memory. */
  readonly #agents = new Map<string, number>()

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
    const agent = this.#agents.get(agentId) ?? -1
    collect(this.#exact.get(action), agent, found)
    if (this.#prefixes.size > 0) {
      for (let dot = action.indexOf('.'); dot !== -1; dot = action.indexOf('.', dot + 1))
        collect(this.#prefixes.get(action.slice(0, dot + 1)), agent, found)
    }
    collect(this.#anyAction, agent, found)
    return found
  }

  #add(rule: R): void {
    const actions = widest(rule.actions)
    const agents = widest(rule.agents)
    const anyAgent = isForAnyAgent(agents, actions)
    for (const node of this.#nodesOf(actions)) {
      if (anyAgent) node.anyAgent.push(rule)
      else for (const agent of agents) this.#addOf(agent, node, rule)
    }
  }

  #addOf(agent: string, node: Node<R>, rule: R): void {
    const number = entryOf(this.#agents, agent, () => this.#agents.size)
    entryOf(node.byAgent, number, () => []).push(rule)
  }

  /** Under any action once, whatever else its list has: a rule is a candidate once. */
  #nodesOf(actions: readonly string[]): Node<R>[] {
    if (actions.some(isOther)) return [this.#anyAction]
    return actions.map((action) =>
      action.includes('*')
        ? entryOf(this.#prefixes, action.slice(0, -1), emptyNode<R>)
        : entryOf(this.#exact, action, emptyNode<R>),
    )
  }
}

/** Whether a rule is a candidate for every request, so that many such rules make every decision slow. */
export const isBroad = ({ agents, actions }: Pick<Rule, 'agents' | 'actions'>): boolean =>
  isForAnyAgent(widest(agents), widest(actions)) && widest(actions).some(isOther)

const isForAnyAgent = (agents: readonly string[], actions: readonly string[]): boolean =>
  agents.some((pattern) => pattern.includes('*')) || agents.length * actions.length > MAX_PAIRS

const isOther = (action: string): boolean => action.includes('*') && !PREFIX.test(action)

const emptyNode = <R>(): Node<R> => ({ anyAgent: [], byAgent: new Map() })

/** The patterns that no other of the list covers: of those, at most one kind of key fits a name. */
function widest(patterns: readonly string[]): readonly string[] {
  const different = [...new Set(patterns)]
  if (different.length === 1) return different
  return different.filter((one, i) =>
    different.every((other, j) => i === j || !covers(other, one) || (covers(one, other) && i < j)),
  )
}

function entryOf<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}

function collect<R>(node: Node<R> | undefined, agent: number, found: R[]): void {
  if (!node) return
  for (const rule of node.anyAgent) found.push(rule)
  const own = node.byAgent.size > 0 ? node.byAgent.get(agent) : undefined
  if (own) for (const rule of own) found.push(rule)
}
