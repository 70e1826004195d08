import type { FieldError } from '@remit/contract'
import { MAX_DELEGATION_DEPTH } from '@remit/contract/values'
import { covers } from '@remit/contract/patterns'
import type { CompiledPermission } from './permission.ts'

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
