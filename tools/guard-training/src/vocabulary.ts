import { normalize } from '@remit/core/guard/internals'
import type { Row } from './rows.ts'

const MAX_TEXT = 6_000
const MAX_WORDS = 24_000

/** True where words may be disguised; a disguised word must not enter the vocabulary. */
const isDisguised = ({ source, category, label }: Row): boolean =>
  source === 'neuralchemy' ||
  category === 'encoded_payload' ||
  (label === 1 && !source.startsWith('grammar-'))

/** The words of the texts, but for the rare ones: misspellings, names and ciphers. */
export function vocabularyOf(rows: readonly Row[]): string {
  const counts = new Map<string, number>()
  for (const row of rows) {
    if (isDisguised(row)) continue
    const { text } = row
    const words = normalize(text.slice(0, MAX_TEXT)).view.text.match(
      /(?<![a-z])[a-z]{3,18}(?![a-z])/g,
    )
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return Array.from(counts)
    .filter(([word, count]) => count >= (word.length === 3 ? 20 : 3))
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, MAX_WORDS)
    .map(([word]) => word)
    .toSorted()
    .join('\n')
}
