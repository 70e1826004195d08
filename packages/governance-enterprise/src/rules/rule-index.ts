import { matchesAll, matchesPattern } from '@remit/contract/patterns'
import { readingsOf } from '@remit/core/decision'
import type { Ask, Meter } from '@remit/core/decision'
import type { Condition } from './condition.ts'
import { factsOf } from './facts.ts'

/** The rules that may match a request, each once. */
export interface Candidates<R> {
  readonly rules: readonly R[]
  /** The number of leading rules that match for certain; for others call `isAbout`. */
  readonly certain: number
}

/**
 * The rules of one key as a linked list: with thousands of rules, memory latency dominates a
 * decision, and an array would add two accesses per rule.
 */
interface Link<R> {
  readonly rule: R
  /** True if it matches every request with the key. */
  readonly certain: boolean
  readonly next: Link<R> | null
}

/** Rules for some actions: those for all agents, and those for one, by the agent's number. */
interface Node<R> {
  anyAgent: Link<R> | null
  readonly byAgent: Map<number, Link<R>>
}

// A rule is stored under every pair of its agents and actions; with more pairs, under its actions.
const MAX_PAIRS = 64
const PREFIX = /^[^*]*\.\*$/

/**
 * An immutable index of rules by action and agent, so that a decision reads the few that may match.
 * Rules with action patterns other than exact ones and `svc.*`, or agent patterns other than exact
 * ones, are always read.
 */
export class RuleIndex<R extends Rule> {
  readonly size: number
  readonly #exact = new Map<string, Node<R>>()
  /** By the text before the asterisk: `svc.` */
  readonly #prefixes = new Map<string, Node<R>>()
  readonly #anyAction: Node<R> = emptyNode()
  /** Comparing numbers avoids reading a text elsewhere in memory. */
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

  /** Stored under every action once, whatever else the list contains: a rule is a candidate once. */
  #nodesOf(actions: readonly string[]): Node<R>[] {
    if (actions.some(isOther)) return [this.#anyAction]
    return actions.map((action) =>
      action.includes('*')
        ? entryOf(this.#prefixes, action.slice(0, -1), emptyNode<R>)
        : entryOf(this.#exact, action, emptyNode<R>),
    )
  }
}

/** Returns whether a rule is a candidate for every request; many such rules slow every decision. */
export const isBroad = ({ agents, actions }: Pick<Rule, 'agents' | 'actions'>): boolean =>
  isForAnyAgent(widest(agents), widest(actions)) && widest(actions).some(isOther)

const isForAnyAgent = (agents: readonly string[], actions: readonly string[]): boolean =>
  agents.some((pattern) => pattern.includes('*')) ||
  agents.length * (actions.some(isOther) ? 1 : actions.length) > MAX_PAIRS

/**
 * Returns whether the keys alone prove a match: no pattern is looser than its key, and neither
 * resources nor a window restrict the rule.
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

/**
 * The patterns without those that `*` or a `svc.*` of the list covers: at most one kind of key matches a
 * name. Other patterns are no keys, and comparing each pair of them would delay all organizations.
 */
function widest(patterns: readonly string[]): readonly string[] {
  const different = [...new Set(patterns)]
  const all = different.find(matchesAll)
  if (all !== undefined) return [all]
  const prefixes = different.filter((pattern) => PREFIX.test(pattern))
  if (prefixes.length === 0) return different
  return different.filter((one) =>
    prefixes.every((wider) => wider === one || !one.startsWith(wider.slice(0, -1))),
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

/** The common part of all rules: agents, actions, resources and window. */
export interface Rule {
  readonly id: string
  readonly agents: readonly string[]
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly condition: Condition | null
  /** The window `[notBefore, expiresAt)`, milliseconds; null is open. */
  readonly notBefore: number | null
  readonly expiresAt: number | null
}

/** Returns true if a rule matches a request, false if not, or the error of its condition. */
export const matchRule = (rule: Rule, ask: Ask, meter?: Meter): boolean | 'error' =>
  isAbout(rule, ask) && holds(rule, ask, meter)

/**
 * The rules that match a request or one of its readings. A rule that matches only because its condition
 * fails has `error`.
 */
export function matchesOf<R extends Rule>(
  rules: RuleIndex<R>,
  ask: Ask,
  meter?: Meter,
): ReadonlyMap<R, true | 'error'> {
  const candidates = rules.candidates(ask.request.agent_id, ask.request.action).rules
  const found = new Map<R, true | 'error'>()
  // One reading after the other, since only the facts of the last one are kept.
  for (const one of [ask, ...readingsOf(ask)])
    for (const rule of candidates) {
      if (found.get(rule) === true) continue
      const result = matchRule(rule, one, meter)
      if (result !== false) found.set(rule, result)
    }
  return found
}

/** The result of the condition; a rule without one always matches. */
export const holds = ({ condition }: Rule, ask: Ask, meter?: Meter): boolean | 'error' =>
  condition === null ? true : condition.evaluate(factsOf(ask), meter)

/** The parts of a request that patterns match. */
export interface About extends Pick<Ask, 'resource' | 'now'> {
  readonly request: Pick<Ask['request'], 'agent_id' | 'action'>
}

/** Matches patterns and window, without the condition. */
export function isAbout(rule: Rule, { request, resource, now }: About): boolean {
  if (rule.notBefore !== null && now < rule.notBefore) return false
  if (rule.expiresAt !== null && now >= rule.expiresAt) return false
  return (
    anyMatches(rule.agents, request.agent_id) &&
    anyMatches(rule.actions, request.action) &&
    (resource === null ? isForAll(rule.resources) : anyMatches(rule.resources, resource))
  )
}

export function anyMatches(patterns: readonly string[], text: string): boolean {
  for (const pattern of patterns) if (matchesPattern(pattern, text)) return true
  return false
}

/** Returns whether a list of patterns also matches a missing value. */
function isForAll(patterns: readonly string[]): boolean {
  for (const pattern of patterns) if (matchesAll(pattern)) return true
  return false
}
