import { covers } from '@remit/contract/patterns'

/** The common part of several lists of patterns. */
export interface Narrowed {
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
