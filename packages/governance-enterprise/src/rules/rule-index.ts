import { covers, matchesAll } from './pattern.ts'
import { isForAll } from './rule.ts'
import type { Rule } from './rule.ts'

/** The rules that may be about a request, each once. */
export interface Candidates<R> {
  readonly rules: readonly R[]
  /** So many of the first rules are about it for certain; of the others `isAbout` has to say. */
  readonly certain: number
}

/**
 * Rules under one key: those that are about what is found there, and those that may be. Null for none:
 * among thousands of rules it costs more to look at an empty list than to know that it is.
 */
interface List<R> {
  certain: R[] | null
  others: R[] | null
}

/** Rules for some actions: those for any agent, and those for one, by the agent's number. */
interface Node<R> {
  anyAgent: List<R> | null
  readonly byAgent: Map<number, List<R>>
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

  candidates(agentId: string, action: string): Candidates<R> {
    const rules: R[] = []
    const lists: List<R>[] = []
    const agent = this.#agents.get(agentId) ?? -1
    collect(this.#exact.get(action), agent, lists)
    if (this.#prefixes.size > 0) {
      for (let dot = action.indexOf('.'); dot !== -1; dot = action.indexOf('.', dot + 1))
        collect(this.#prefixes.get(action.slice(0, dot + 1)), agent, lists)
    }
    collect(this.#anyAction, agent, lists)
    for (const list of lists) if (list.certain) for (const rule of list.certain) rules.push(rule)
    const certain = rules.length
    for (const list of lists) if (list.others) for (const rule of list.others) rules.push(rule)
    return { rules, certain }
  }

  #add(rule: R): void {
    const actions = widest(rule.actions)
    const agents = widest(rule.agents)
    const anyAgent = isForAnyAgent(agents, actions)
    const kind = isProvenByKeys(rule, agents, actions) ? 'certain' : 'others'
    for (const node of this.#nodesOf(actions)) {
      const lists = anyAgent
        ? [(node.anyAgent ??= emptyList())]
        : agents.map((agent) => this.#listOf(agent, node))
      for (const list of lists) (list[kind] ??= []).push(rule)
    }
  }

  #listOf(agent: string, node: Node<R>): List<R> {
    const number = entryOf(this.#agents, agent, () => this.#agents.size)
    return entryOf(node.byAgent, number, emptyList<R>)
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

/**
 * Whether being found under its keys is all that it takes: no pattern is looser than the key that it
 * stands under, and neither resources nor a window keep it from a request.
 */
const isProvenByKeys = (
  rule: Rule,
  agents: readonly string[],
  actions: readonly string[],
): boolean =>
  rule.notBefore === null &&
  rule.expiresAt === null &&
  isForAll(rule.resources) &&
  (agents.some(matchesAll) || !isForAnyAgent(agents, actions)) &&
  (actions.some(matchesAll) || !actions.some(isOther))

const isOther = (action: string): boolean => action.includes('*') && !PREFIX.test(action)

const emptyList = <R>(): List<R> => ({ certain: null, others: null })

const emptyNode = <R>(): Node<R> => ({ anyAgent: null, byAgent: new Map() })

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

function collect<R>(node: Node<R> | undefined, agent: number, lists: List<R>[]): void {
  if (!node) return
  if (node.anyAgent) lists.push(node.anyAgent)
  const own = node.byAgent.size > 0 ? node.byAgent.get(agent) : undefined
  if (own) lists.push(own)
}
