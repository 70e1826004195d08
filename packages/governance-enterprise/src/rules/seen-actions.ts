import { matchesPattern } from '@remit/contract/patterns'
import { on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'

/** Entries that are read: some milliseconds of headers, on no decision. */
const NEWEST = 1_000
/** Shorter parts of names, such as `get` and `set`, are similar by chance. */
const LEAST_LETTERS = 5
const LETTERS_FOR_TWO = 8
// Long names and lists would hold the event loop: agents choose the names of their actions.
const MOST_LETTERS = 32
const MOST_PATTERNS = 10

/** Hints about actions of a rule that no recent call has had, where a call had a similar one. */
export async function actionHints(
  db: AnyDatabase,
  orgId: string,
  patterns: readonly string[],
): Promise<string[]> {
  if (patterns.every((pattern) => pattern.startsWith('*'))) return []
  const rows = await on<Tables>(db)
    .selectFrom('ledger_entry')
    .select(['kind', 'action'])
    .where('org_id', '=', orgId)
    .orderBy('seq', 'desc')
    .limit(NEWEST)
    .execute()
  const seen = new Set(
    rows.flatMap(({ kind, action }) =>
      kind === 'authorization.decided' && action !== null ? [action] : [],
    ),
  )
  return patterns.slice(0, MOST_PATTERNS).flatMap((pattern) => {
    const similar = similarAction(pattern, seen)
    return similar === null
      ? []
      : [`no recent call has had the action ${pattern}; a call has had ${similar}`]
  })
}

const partsOf = (name: string): string[] => name.split(/[./:]/)

/**
 * A seen action that differs from the pattern by one or two letters in the first of its parts that no seen action
 * has; null without one, or where an action matches. Pure.
 */
export function similarAction(pattern: string, seen: ReadonlySet<string>): string | null {
  if ([...seen].some((action) => matchesPattern(pattern, action))) return null
  let alike = [...seen].map((action) => ({ action, parts: partsOf(action) }))
  for (const [i, part] of partsOf(pattern).entries()) {
    if (part.includes('*')) return null
    const same = alike.filter(({ parts }) => parts[i] === part)
    if (same.length === 0)
      return alike.find(({ parts }) => isTypo(part, parts[i] ?? ''))?.action ?? null
    alike = same
  }
  return null
}

function isTypo(text: string, other: string): boolean {
  const length = Math.min(text.length, other.length)
  if (length < LEAST_LETTERS || length > MOST_LETTERS) return false
  if (Math.abs(text.length - other.length) > 2) return false
  return distance(text, other) <= (length < LETTERS_FOR_TWO ? 1 : 2)
}

/** Letters to add, drop, replace or swap with the next one. */
function distance(a: string, b: string): number {
  let [before, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[j - 2] ?? 0) + 1 : Infinity,
      )
    }
    ;[before, row] = [row, next]
  }
  return row[b.length] ?? 0
}
