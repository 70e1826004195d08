import { covers } from '@remit/contract/patterns'
import type { FieldError } from '@remit/contract'
import { MAX_DELEGATION_DEPTH } from '@remit/contract/values'
import { conditionOf } from '../rules/condition.ts'
import type { Rule } from '../rules/rule-index.ts'
import type { PermissionRow } from '../tables/delegation.ts'

/** A compiled permission; its rule concerns the holder, or the denied agent. */
export interface CompiledPermission extends Rule {
  /** The holder; for a denial it may be a pattern. */
  readonly agentId: string
  readonly effect: 'allow' | 'deny'
  readonly parentId: string | null
  readonly grantedBy: { readonly type: PermissionRow['granted_by_type']; readonly id: string }
  readonly canDelegate: boolean
  readonly maxDepth: number
  readonly description: string | null
  readonly isRevoked: boolean
  /** The same rule for any agent, for evaluation as a link of a chain. */
  readonly link: Rule
}

/** A permission as stored, without the record of its changes. */
export type PermissionTerms = Omit<
  PermissionRow,
  'org_id' | 'created_at' | 'created_by' | 'updated_at' | 'revision'
>

export function toPermission(row: PermissionTerms): CompiledPermission {
  const rule = {
    id: row.id,
    actions: listOf(row.actions),
    resources: listOf(row.resources),
    condition: row.condition === null ? null : conditionOf(row.condition),
    notBefore: row.not_before === null ? null : Date.parse(row.not_before),
    expiresAt: row.expires_at === null ? null : Date.parse(row.expires_at),
  }
  return {
    ...rule,
    agents: [row.agent_id],
    agentId: row.agent_id,
    effect: row.effect,
    parentId: row.parent_id,
    grantedBy: { type: row.granted_by_type, id: row.granted_by_id },
    canDelegate: row.can_delegate === 1,
    maxDepth: row.max_depth,
    description: row.description,
    isRevoked: row.revoked_at !== null,
    link: { ...rule, agents: ['*'] },
  }
}

/** The terms of a stored permission in API form. */
export const termsOf = (row: PermissionRow) => ({
  agent_id: row.agent_id,
  effect: row.effect,
  actions: listOf(row.actions),
  resources: listOf(row.resources),
  condition: row.condition,
  parent_id: row.parent_id,
  granted_by: { type: row.granted_by_type, id: row.granted_by_id },
  can_delegate: row.can_delegate === 1,
  max_depth: row.max_depth,
  not_before: row.not_before,
  expires_at: row.expires_at,
  description: row.description,
})

/** A stored list of patterns. */
export const listOf = (text: string): string[] => JSON.parse(text) as string[]

/** The common part of several lists of patterns. */
interface Narrowed {
  readonly patterns: readonly string[]
  /** Some patterns overlap without one covering the other: the common part is larger than the list. */
  readonly isPartial: boolean
}

/** The patterns that all lists match. Every match of the result matches all lists. */
export function narrowed(lists: readonly (readonly string[])[]): Narrowed {
  const [first = [], ...rest] = lists
  let patterns = first
  let isPartial = false
  for (const list of rest) {
    const common = new Set<string>()
    for (const a of patterns) {
      for (const b of list) {
        if (covers(a, b)) common.add(b)
        else if (covers(b, a)) common.add(a)
        else if (overlap(a, b)) isPartial = true
      }
    }
    patterns = [...common]
  }
  return { patterns, isPartial }
}

/** Returns whether a text can match both patterns; never false if one does. */
export function overlap(a: string, b: string): boolean {
  if (!a.includes('*')) return covers(b, a)
  if (!b.includes('*')) return covers(a, b)
  const [headA, headB] = [a.slice(0, a.indexOf('*')), b.slice(0, b.indexOf('*'))]
  const [tailA, tailB] = [a.slice(a.lastIndexOf('*') + 1), b.slice(b.lastIndexOf('*') + 1)]
  return (
    (headA.startsWith(headB) || headB.startsWith(headA)) &&
    (tailA.endsWith(tailB) || tailB.endsWith(tailA))
  )
}

/** Returns whether two lists overlap. */
export const listsOverlap = (as: readonly string[], bs: readonly string[]): boolean =>
  as.some((a) => bs.some((b) => overlap(a, b)))

/** A requested child permission. Times are milliseconds. */
export interface RequestedPermission {
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly notBefore: number | null
  readonly expiresAt: number | null
  /** Null means the remaining depth. */
  readonly maxDepth: number | null
}

type Links = readonly CompiledPermission[]

/**
 * The number of links that may follow the next link of the chain; negative if the next link is not
 * allowed.
 */
export const depthLeft = (links: Links): number =>
  Math.min(
    MAX_DELEGATION_DEPTH - links.length,
    ...links.map(({ maxDepth }, i) => maxDepth - (links.length - i)),
  )

/**
 * Returns where `cut` is provably wider than a link of its parent chain: an uncovered pattern, a
 * longer window, a longer chain. Cases that this check misses grant nothing: decisions evaluate
 * every link.
 */
export function widerThan(links: Links, cut: RequestedPermission): FieldError[] {
  const faults: FieldError[] = []
  const left = depthLeft(links)
  if (left < 0) {
    faults.push({ path: 'parent_id', message: 'has reached the max_depth of its chain' })
  } else if (cut.maxDepth !== null && cut.maxDepth > left) {
    faults.push({
      path: 'max_depth',
      message: `must be at most ${left}, the remaining depth of its chain`,
    })
  }
  for (const link of links) {
    faults.push(...uncovered('actions', cut.actions, link))
    faults.push(...uncovered('resources', cut.resources, link))
    if (isBefore(link.expiresAt, cut.expiresAt))
      faults.push({ path: 'expires_at', message: `must not be later than that of ${link.id}` })
    if (isBefore(cut.notBefore, link.notBefore))
      faults.push({ path: 'not_before', message: `must not be earlier than that of ${link.id}` })
  }
  return faults
}

/** An open window inherits that of the chain, so only an explicit one can be wider. */
const isBefore = (a: number | null, b: number | null): boolean => a !== null && b !== null && a < b

function uncovered(
  field: 'actions' | 'resources',
  patterns: readonly string[],
  link: CompiledPermission,
): FieldError[] {
  return patterns.flatMap((pattern, i) =>
    link[field].some((wider) => covers(wider, pattern))
      ? []
      : [
          {
            path: `${field}.${i}`,
            message: `${pattern} is not covered by the patterns of ${link.id}`,
          },
        ],
  )
}
