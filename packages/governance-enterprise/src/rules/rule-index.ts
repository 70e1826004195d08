import { covers, matchesAll } from '@remit/core'
import { isForAll } from './rule.ts'
import type { Rule } from './rule.ts'

/** The rules that may be about a request, each once. */
export interface Candidates<R> {
  readonly rules: readonly R[]
  /** So many of the first rules are about it for certain; of the others `isAbout` has to say. */
  readonly certain: number
}

/**
 * The rules under one key, one behind the other: among thousands of rules a decision waits for memory
 * more than for anything else, and a list would be two places more on the way to a rule.
 */
interface Link<R> {
  readonly rule: R
  /** Whether it is about whatever is found under the key. */
  readonly certain: boolean
  readonly next: Link<R> | null
}

/** Rules for some actions: those for any agent, and those for one, by the agent's number. */
interface Node<R> {
  anyAgent: Link<R> | null
  readonly byAgent: Map<number, Link<R>>
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
    for (const rule of rules.toReversed()) this.#add(rule)
  }

  static of<R extends Rule>(rules: readonly R[]): RuleIndex<R> {
    return new RuleIndex(rules)
  }

  candidates(agentId: string, action: string): Candidates<R> {
    const rules: R[] = []
    const found: Link<R>[] = []
    const agent = this.#agents.get(agentId) ?? -1
    collect(this.#exact.get(action), agent, found)
    if (this.#prefixes.size > 0) {
      for (let dot = action.indexOf('.'); dot !== -1; dot = action.indexOf('.', dot + 1))
        collect(this.#prefixes.get(action.slice(0, dot + 1)), agent, found)
    }
    collect(this.#anyAction, agent, found)
    pushRules(found, true, rules)
    const certain = rules.length
    pushRules(found, false, rules)
    return { rules, certain }
  }

  #add(rule: R): void {
    const actions = widest(rule.actions)
    const agents = widest(rule.agents)
    const anyAgent = isForAnyAgent(agents, actions)
    const certain = isProvenByKeys(rule, agents, actions)
    for (const node of this.#nodesOf(actions)) {
      if (anyAgent) node.anyAgent = { rule, certain, next: node.anyAgent }
      else
        for (const agent of agents) {
          const number = entryOf(this.#agents, agent, () => this.#agents.size)
          const next = node.byAgent.get(number) ?? null
          node.byAgent.set(number, { rule, certain, next })
        }
    }
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

function collect<R>(node: Node<R> | undefined, agent: number, found: Link<R>[]): void {
  if (!node) return
  if (node.anyAgent) found.push(node.anyAgent)
  const own = node.byAgent.size > 0 ? node.byAgent.get(agent) : undefined
  if (own) found.push(own)
}

function pushRules<R>(found: readonly Link<R>[], certain: boolean, rules: R[]): void {
  for (const first of found)
    for (let link: Link<R> | null = first; link !== null; link = link.next)
      if (link.certain === certain) rules.push(link.rule)
}
