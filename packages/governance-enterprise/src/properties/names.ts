import { matchesAll, matchesPattern } from '@remit/contract/patterns'

/** A pattern with the rule that has it. */
export interface NamedPattern {
  readonly pattern: string
  readonly label: string
}

/** Names that stand for all others, and why there may be further ones. */
export interface Names {
  readonly names: readonly string[]
  readonly gaps: readonly string[]
}

const LETTERS = Array.from('xyzabcdefghijklmnopqrstuvw0123456789')
const ENDINGS = [...LETTERS, ...LETTERS.flatMap((one) => LETTERS.map((other) => one + other))]

/**
 * Returns a name for every class of names that the patterns tell apart: the exact ones, and for each
 * `prefix*` one that has that prefix and no longer one of another pattern. Patterns with `*` elsewhere are
 * only sampled. `known` are further names that conditions tell apart.
 */
export function representatives(
  patterns: readonly NamedPattern[],
  known: readonly string[],
  isValid: (name: string) => boolean,
): Names {
  const labels = new Map(patterns.map(({ pattern, label }) => [pattern, label]))
  const exact = new Set(known)
  const prefixes = new Set<string>()
  const gaps: string[] = []
  const samples: string[] = []
  for (const [pattern, label] of labels) {
    const star = pattern.indexOf('*')
    if (star === -1) exact.add(pattern)
    else if (matchesAll(pattern)) prefixes.add('')
    else if (star === pattern.length - 1) prefixes.add(pattern.slice(0, -1))
    else {
      gaps.push(`${label} has the pattern ${pattern}`)
      samples.push(pattern.replaceAll('*', 'x'), pattern.replaceAll('*', ''))
    }
  }
  const names = [...exact, ...samples]
  for (const prefix of prefixes) {
    const longer = [...prefixes].filter((one) => one !== prefix && one.startsWith(prefix))
    const isFresh = (name: string) =>
      isValid(name) && !exact.has(name) && !longer.some((one) => name.startsWith(one))
    const ending = ENDINGS.find((one) => isFresh(prefix + one))
    if (ending === undefined) gaps.push(`no other name was found for the pattern ${prefix}*`)
    else names.push(prefix + ending)
    names.push(prefix)
  }
  return { names: [...new Set(names)].filter(isValid), gaps }
}

/** Returns whether any of the patterns matches; a missing name, only those that match everything. */
export const anyMatches = (patterns: readonly string[], name: string | null): boolean =>
  patterns.some((one) => (name === null ? matchesAll(one) : matchesPattern(one, name)))
