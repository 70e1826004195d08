import { covers } from '@remit/core'

/** Patterns that several lists have in common. */
export interface Narrowed {
  readonly patterns: readonly string[]
  /** Some patterns overlap without one covering the other: more is common than is listed. */
  readonly isPartial: boolean
}

/** What every list matches. Whatever the result matches, all lists match. */
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

/** Whether some text may match both patterns; never false where one does. */
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

/** Whether two lists have something in common. */
export const listsOverlap = (as: readonly string[], bs: readonly string[]): boolean =>
  as.some((a) => bs.some((b) => overlap(a, b)))
