/** The budgets of an organization, compiled, and the path of a request through them. */
import type { BudgetInput } from '@remit/contract'
import { isObject, toUnits } from '@remit/contract/values'
import type { Overlay } from '@remit/core/decision'
import type { RegisteredAgent } from '@remit/core/module'
import { subjectOf } from '../counters/charges.ts'
import { anyMatches, isAbout, RuleIndex } from '../rules/rule-index.ts'
import type { About, Rule } from '../rules/rule-index.ts'
import type { BudgetRow } from '../tables/schema.ts'
import { timeOf } from './windows.ts'
import type { BudgetTime } from './windows.ts'

/** A compiled budget. `limit` is in counted integers; see `toUnits`. */
export interface Node extends Rule, BudgetInput {
  readonly uid: string
  /** Its counter; see `subjectOf`. */
  readonly subject: string
  readonly revision: number
  /** 1 for a root. */
  readonly depth: number
  readonly counted: number
  /** Enabled children whose rest it keeps free. */
  readonly keeps: readonly Node[]
}

export interface BudgetTree {
  /** Enabled budgets only; others still settle. */
  readonly index: RuleIndex<Node>
  readonly byUid: ReadonlyMap<string, Node>
  /** Null without a registry. */
  readonly registry: ReadonlyMap<string, RegisteredAgent> | null
  /** Holds of budgets can end by themselves. */
  readonly mayEnd: boolean
}

export const inputOf = ({ document }: Pick<BudgetRow, 'document'>): BudgetInput =>
  JSON.parse(document) as BudgetInput

/** Compiles budgets; null without any. Pure. */
export function treeOf({ rows, registry, mayEnd }: BudgetSource): BudgetTree | null {
  if (rows.length === 0) return null
  const nodes = new Map<string, Node & { keeps: Node[] }>()
  const open = new Set<BudgetRow>()
  const rowsById = new Map(rows.map((row) => [row.id, row]))
  const add = (row: BudgetRow): Node & { keeps: Node[] } => {
    const made = nodes.get(row.id)
    if (made) return made
    const above = row.parent_id === null ? undefined : rowsById.get(row.parent_id)
    // Only budgets that are tried can be their own ancestors.
    open.add(row)
    const parent = above && !open.has(above) ? add(above) : undefined
    open.delete(row)
    const input = inputOf(row)
    const node = {
      ...input,
      ...input.match,
      id: row.id,
      uid: row.uid,
      subject: subjectOf(row.uid),
      revision: row.revision,
      depth: (parent?.depth ?? 0) + 1,
      counted: toUnits(input.unit, input.limit),
      keeps: [],
      condition: null,
      notBefore: null,
      expiresAt: null,
    }
    if (input.enabled && input.reserved) parent?.keeps.push(node)
    nodes.set(row.id, node)
    return node
  }
  const all = rows.map(add)
  return {
    index: RuleIndex.of(all.filter(({ enabled }) => enabled)),
    byUid: new Map(all.map((node) => [node.uid, node])),
    registry,
    mayEnd: mayEnd || all.some(({ hold_ttl_seconds: ttl }) => ttl !== null),
  }
}

/** The budgets of an organization as they are stored, with the agents whose labels they read. */
export interface BudgetSource {
  readonly rows: readonly BudgetRow[]
  readonly registry: BudgetTree['registry']
  readonly mayEnd: boolean
}

/** Returns budgets with those of a preview; new ones have counted nothing. */
export function overlaidBudgets(
  { rows, ...source }: BudgetSource,
  change: NonNullable<Overlay['budgets']>,
): BudgetSource {
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const id of change.remove) byId.delete(id)
  for (const { id, ...input } of change.set) {
    const before = rows.find((row) => row.id === id)
    const made = { org_id: '', id, uid: `tried ${id}`, revision: 0 }
    const times = { created_at: '', created_by: '', updated_at: '' }
    const row = { ...made, ...times, ...before, parent_id: input.parent_id }
    byId.set(id, { ...row, document: JSON.stringify(input) })
  }
  return { ...source, rows: [...byId.values()] }
}

/** A budget that a request matches, with the counter of its value. */
export interface Step {
  readonly node: Node
  /** The value of `per`; null for none, and undefined for a budget without `per`. */
  readonly value: string | null | undefined
  readonly subject: string
  readonly time: BudgetTime
}

/** The counter of the number of values of a budget. */
export const valuesOf = ({ uid }: Pick<Node, 'uid'>): string => `*values/${uid}`

/** Returns the budget of a counter and its value; null for other counters and removed budgets. */
export function ownerOf(
  tree: BudgetTree,
  subject: string,
): Pick<Step, 'node' | 'value' | 'subject'> | null {
  const [, uid = '', value = null] = /^\*budget\/([^/]+)(?:\/(.*))?$/s.exec(subject) ?? []
  const node = tree.byUid.get(uid)
  return node ? { node, value: node.per === null ? undefined : value, subject } : null
}

/** The facts by which budgets match. */
export interface Walked extends About {
  /** Other readings of the resource. */
  readonly resources?: readonly (string | null)[]
  /** The user that the agent acts for. */
  readonly user: string | null
}

/** Returns the enabled budgets that match a request, parents first. Pure. */
export function pathOf(tree: BudgetTree, asked: Walked): Step[] {
  const { request, now, user, resources = [] } = asked
  const labels = labelsOf(tree, request.agent_id)
  const isOn = (node: Node) =>
    [asked, ...resources.map((resource) => ({ ...asked, resource }))].some((one) =>
      isAbout(node, one),
    ) &&
    (user === null ? node.match.users.includes('*') : anyMatches(node.match.users, user)) &&
    Object.entries(node.match.labels).every(([key, patterns]) => {
      const value = labels(key)
      return value !== null && anyMatches(patterns, value)
    })
  return tree.index
    .candidates(request.agent_id, request.action)
    .rules.filter(isOn)
    .toSorted((a, b) => a.depth - b.depth || (a.id < b.id ? -1 : 1))
    .map((node) => {
      const value = valueOf(node, request.agent_id, user, labels)
      const subject = value == null ? node.subject : subjectOf(node.uid, value)
      return { node, value, subject, time: timeOf(node, now) }
    })
}

/** The labels of a registered agent: an admin's, not a claim of the request. */
function labelsOf({ registry }: BudgetTree, agentId: string): (key: string) => string | null {
  const labels = registry?.get(agentId)?.attributes['labels']
  return (key) => {
    const value = isObject(labels) && Object.hasOwn(labels, key) ? labels[key] : null
    return typeof value === 'string' && value !== '' ? value : null
  }
}

function valueOf(
  { per }: Node,
  agentId: string,
  user: string | null,
  labelOf: (key: string) => string | null,
): Step['value'] {
  if (per === null) return undefined
  if (per === 'agent') return agentId
  return per === 'user' ? user : labelOf(per.slice('label:'.length))
}

/** Returns whether requests of an agent can match a budget, whatever their action and resource. */
export function isOfAgent(tree: BudgetTree, node: Node, agentId: string): boolean {
  const labels = labelsOf(tree, agentId)
  return (
    anyMatches(node.agents, agentId) &&
    Object.entries(node.match.labels).every(([key, patterns]) => {
      const value = labels(key)
      return value !== null && anyMatches(patterns, value)
    })
  )
}
