import type { Budget } from '@remit/contract'
import { matchesPattern } from '@remit/contract/patterns'
import { count, usd } from '../../format/money.ts'

/** A budget with its place in the tree. */
export interface BudgetRow extends Budget {
  /** 0 for a root. */
  readonly depth: number
}

/** Budgets depth first: each is followed by its parts, by id. One whose parent is not there is a root. */
export function inTree(budgets: readonly Budget[]): BudgetRow[] {
  const ids = new Set(budgets.map(({ id }) => id))
  const parts = Map.groupBy(budgets, ({ parent_id: parent }) =>
    parent !== null && ids.has(parent) ? parent : null,
  )
  const below = (parent: string | null, depth: number): BudgetRow[] =>
    (parts.get(parent) ?? []).flatMap((one) => [{ ...one, depth }, ...below(one.id, depth + 1)])
  return below(null, 0)
}

/** An amount in a unit, such as `1,500.00 USD` or `40 calls`. */
export const amountIn = (unit: string, amount: number): string =>
  unit === 'usd' ? usd(amount) : `${count(amount)} ${unit}`

/** The patterns of a match in words; without those that match everything. */
export function matchText({ agents, actions, resources, users, labels }: Budget['match']): string {
  const lists = { agents, actions, resources, users, ...labels }
  return Object.entries(lists)
    .filter(([, patterns]) => !patterns.includes('*'))
    .map(([name, patterns]) => `${name}: ${patterns.join(', ')}`)
    .join(' · ')
}

interface Labelled {
  readonly agent_id: string
  readonly labels: Readonly<Record<string, string>>
}

/** Returns whether requests of an agent can count: its id and its labels match. */
export const mayCount = ({ agents, labels }: Budget['match'], agent: Labelled): boolean =>
  matchesSome(agents, agent.agent_id) &&
  Object.entries(labels).every(([key, patterns]) => {
    const value = agent.labels[key] ?? ''
    return value !== '' && matchesSome(patterns, value)
  })

const matchesSome = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => matchesPattern(pattern, text))
