import { MAX_DELEGATION_DEPTH } from '@remit/contract'
import type { FieldError } from '@remit/contract'
import { covers } from '@remit/core'
import type { Permission } from './permission.ts'

/** What is asked of a permission that is cut from another. Times are milliseconds. */
export interface Cut {
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly notBefore: number | null
  readonly expiresAt: number | null
  /** Null asks for what is left. */
  readonly maxDepth: number | null
}

type Links = readonly Permission[]

/** How many links may follow one that comes next in the chain `links`; negative: it may not come. */
export const depthLeft = (links: Links): number =>
  Math.min(
    MAX_DELEGATION_DEPTH - links.length,
    ...links.map(({ maxDepth }, i) => maxDepth - (links.length - i)),
  )

/**
 * Where `cut` is provably wider than a link of the chain it would continue: a pattern that no pattern
 * of the link covers, a window beyond the link's, a longer chain. Whatever this does not see gains
 * nothing either: decisions ask every link.
 */
export function widerThan(links: Links, cut: Cut): FieldError[] {
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

/** A window that is left open is that of the chain: only what is said can be wider. */
const isBefore = (a: number | null, b: number | null): boolean => a !== null && b !== null && a < b

function uncovered(
  field: 'actions' | 'resources',
  patterns: readonly string[],
  link: Permission,
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
