/** Which budgets a tree accepts. Pure, but for the tables that it is given. */
import { isDeepStrictEqual } from 'node:util'
import type { BudgetInput } from '@remit/contract'
import { covers } from '@remit/contract/patterns'
import { toUnits } from '@remit/contract/values'
import { fail } from '@remit/core/base'
import type { Failure } from '@remit/core/base'
import type { BudgetRow } from '../tables/schema.ts'
import { inputOf } from './tree.ts'

const MAX_BUDGETS = 1_000
/** They bound a path: each request reads the counters of all budgets that match it. */
const MAX_BROAD = 24
const MAX_OF_AGENT = 8
const MAX_DEPTH = 8
const MAX_RESERVED = 32

const FIXED = ['parent_id', 'per', 'unit', 'window', 'time_zone'] as const
/** A slice and its parent count the same. */
const ALIKE = ['unit', 'window', 'time_zone', 'hold_ttl_seconds', 'settlement_by_agent'] as const

export interface Placed extends BudgetInput {
  readonly id: string
}

const placed = (row: BudgetRow): Placed => ({ ...inputOf(row), id: row.id })

const refuse = (
  code: 'budget_tree_invalid' | 'budget_wider_than_parent' | 'budget_overallocated',
  path: string,
  message: string,
): Failure => fail(code, `${path}: ${message}`, { errors: [{ path, message }] })

/** Throws the refusal of a budget that does not fit to the others of the organization. */
export function checkBudget(rows: readonly BudgetRow[], id: string, input: BudgetInput): void {
  const all = rows.map(placed)
  checkAmong(all, { ...input, id }, all.find((one) => one.id === id) ?? null)
}

/** Throws the refusal of a budget among all as they will be; `before` is null for a new one. */
export function checkAmong(all: readonly Placed[], next: Placed, before: Placed | null): void {
  const { id, parent_id: parentId } = next
  const others = all.filter((one) => one.id !== id)
  if (before) checkFixed(before, next)
  checkCounts(others, next)
  const byId = new Map(others.map((one) => [one.id, one]))
  const parent = parentId === null ? null : byId.get(parentId)
  if (parent === undefined)
    throw refuse('budget_tree_invalid', 'parent_id', `${parentId} is not another budget`)
  if (parent) checkUnder(parent, next, byId)
  for (const child of others)
    if (child.parent_id === id) checkWithin(child, next, `the child ${child.id}`)
  checkSlices(next, parent, others)
}

/** Throws if a budget that is removed has children. */
export function checkChildless(
  all: readonly Pick<BudgetRow, 'id' | 'parent_id'>[],
  id: string,
): void {
  const children = all.filter((one) => one.parent_id === id).map((one) => one.id)
  if (children.length > 0)
    throw fail('budget_has_children', `Remove the children first: ${children.join(', ')}`)
}

function checkFixed(before: Placed, next: Placed): void {
  const name = FIXED.find((one) => before[one] !== next[one])
  if (name !== undefined)
    throw fail('budget_fixed', `${name}: must be ${before[name]}, as the budget was created`, {
      errors: [{ path: name, message: `must be ${before[name]}, as the budget was created` }],
    })
}

const isBroad = ({ match }: Pick<Placed, 'match'>): boolean =>
  match.agents.some((agent) => agent.includes('*'))

function checkCounts(others: readonly Placed[], next: Placed): void {
  if (others.length >= MAX_BUDGETS)
    throw fail('too_many_budgets', `An organization can have at most ${MAX_BUDGETS} budgets`)
  if (isBroad(next)) {
    if (others.filter(isBroad).length >= MAX_BROAD)
      throw fail(
        'too_many_budgets',
        `At most ${MAX_BROAD} budgets can have an agent pattern; others name their agents`,
      )
    return
  }
  for (const agent of next.match.agents) {
    const naming = others.filter((one) => !isBroad(one) && one.match.agents.includes(agent))
    if (naming.length >= MAX_OF_AGENT)
      throw fail('too_many_budgets', `At most ${MAX_OF_AGENT} budgets can name the agent ${agent}`)
  }
}

function checkUnder(parent: Placed, next: Placed, byId: ReadonlyMap<string, Placed>): void {
  let depth = 1
  // Budgets that are set together can be their own ancestors.
  for (let above: Placed | undefined = parent; above && depth <= MAX_DEPTH; depth++) {
    if (above.parent_id === next.id)
      throw refuse('budget_tree_invalid', 'parent_id', `${parent.id} is below ${next.id} itself`)
    above = above.parent_id === null ? undefined : byId.get(above.parent_id)
  }
  if (depth > MAX_DEPTH)
    throw refuse(
      'budget_tree_invalid',
      'parent_id',
      `${parent.id} is at level ${depth - 1} or below; a tree has at most ${MAX_DEPTH} levels`,
    )
  checkWithin(next, parent, next.id)
}

/** A charge to a child is a charge to its parent, so a child must not match more. */
function checkWithin(child: Placed, parent: Placed, what: string): void {
  const { match: narrow } = child
  const { match: wide } = parent
  const tooWide = (path: string, pattern: string) =>
    refuse(
      'budget_wider_than_parent',
      `match.${path}`,
      `${what} matches ${pattern}, which ${parent.id} does not cover`,
    )
  for (const list of ['agents', 'actions', 'resources', 'users'] as const)
    for (const pattern of narrow[list])
      if (!wide[list].some((wider) => covers(wider, pattern))) throw tooWide(list, pattern)
  for (const [key, patterns] of Object.entries(wide.labels)) {
    const own = Object.hasOwn(narrow.labels, key) ? narrow.labels[key] : undefined
    if (!own) throw tooWide(`labels.${key}`, 'every value')
    for (const pattern of own)
      if (!patterns.some((wider) => covers(wider, pattern))) throw tooWide(`labels.${key}`, pattern)
  }
}

function checkSlices(next: Placed, parent: Placed | null, others: readonly Placed[]): void {
  if (next.reserved && !parent)
    throw refuse('budget_tree_invalid', 'reserved', 'must be false for a budget without parent_id')
  if (next.reserved && parent) {
    checkAlike(next, parent)
    checkSum(parent, [...slicesOf(parent, others), next])
  }
  const slices = slicesOf(next, others)
  for (const slice of slices) checkAlike(slice, next)
  checkSum(next, slices)
}

export const slicesOf = (parent: { readonly id: string }, all: readonly Placed[]): Placed[] =>
  all.filter((one) => one.reserved && one.parent_id === parent.id)

function checkAlike(child: Placed, parent: Placed): void {
  const of = `${child.id} is reserved in ${parent.id}`
  if (parent.parent_id !== null && !parent.reserved)
    throw refuse(
      'budget_tree_invalid',
      'reserved',
      `${of}, which must be a root or reserved itself`,
    )
  if (child.per !== null || parent.per !== null)
    throw refuse('budget_tree_invalid', 'per', `must be null: ${of}`)
  const other = ALIKE.find((name) => child[name] !== parent[name])
  if (other !== undefined)
    throw refuse('budget_tree_invalid', other, `must be the same in both: ${of}`)
}

function checkSum(parent: Placed, slices: readonly Placed[]): void {
  if (slices.length > MAX_RESERVED)
    throw refuse(
      'budget_tree_invalid',
      'reserved',
      `${parent.id} can have at most ${MAX_RESERVED} reserved children`,
    )
  const sum = slices.reduce((all, { unit, limit }) => all + toUnits(unit, limit), 0)
  if (sum > toUnits(parent.unit, parent.limit))
    throw refuse(
      'budget_overallocated',
      'limit',
      `the reserved children ${slices.map(({ id }) => id).join(', ')} exceed the limit of ${parent.id}, ${parent.limit}`,
    )
}

/** Probable mistakes of a budget that is accepted. */
export function budgetWarnings(
  rows: readonly BudgetRow[],
  id: string,
  input: BudgetInput,
  hasRegistry: boolean,
): string[] {
  const { per, match, parent_id: parentId, reserved, mode } = input
  const all = rows.map(placed)
  const parent = all.find((one) => one.id === parentId)
  const slices = slicesOf({ id }, all)
  const names = (one: Pick<BudgetInput, 'per' | 'match'>) =>
    one.per === 'user' || !isDeepStrictEqual(one.match.users, ['*'])
  const isLabeled = Object.keys(match.labels).length > 0 || per?.startsWith('label:')
  const unkept = mode === 'observe' && slices.length > 0
  const unguarded = reserved && parent?.mode === 'observe'
  return [
    ...(names({ per, match }) && (!parent || names(parent)) ? ['unverified_subject'] : []),
    ...(isLabeled && !hasRegistry ? ['no_agent_labels'] : []),
    ...(unkept || unguarded ? ['slice_not_kept'] : []),
  ]
}
