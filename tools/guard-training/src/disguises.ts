import type { Lexicon } from '@remit/core/guard/internals'
import { Tokens } from '@remit/core/guard/internals'
import { randomOf } from './head.ts'
import { isDocument } from './rows.ts'
import type { Row } from './rows.ts'

const SEED = 99
const NEEDLES = 300
const MAX_NEEDLE = 1_500
const MIN_DOCUMENT = 4_000
const MAX_TYPOS = 3
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** Attacks of documents, each set at some line of the first nine tenths of a long harmless document. */
export function needles(attacks: readonly Row[], documents: readonly Row[]): Row[] {
  const random = randomOf(SEED)
  const payloads = attacks.filter(({ ctx, text }) => isDocument(ctx) && text.length < MAX_NEEDLE)
  const long = documents.filter(({ ctx, text }) => isDocument(ctx) && text.length > MIN_DOCUMENT)
  if (payloads.length === 0 || long.length === 0) return []
  return Array.from({ length: NEEDLES }, () => {
    const { text } = pick(long, random)
    const payload = pick(payloads, random)
    const line = text.indexOf('\n', Math.floor(random() * text.length * 0.9))
    const at = line < 0 ? text.length : line
    return { ...payload, text: `${text.slice(0, at)}\n${payload.text}\n${text.slice(at)}` }
  })
}

/** Each attack of a document with so many harmless characters before and as many behind it, or half of them each. */
export function padded(attacks: readonly Row[], padding: string, length: number) {
  const around = (before: number, after: number) =>
    attacks.map((row) => ({
      ...row,
      text: [padding.slice(0, before), row.text, padding.slice(before, before + after)]
        .filter((text) => text !== '')
        .join('\n'),
    }))
  return {
    before: around(length, 0),
    after: around(0, length),
    'half on each side': around(length / 2, length / 2),
  }
}

/** Up to three words of 6 to 14 letters that have a concept, each with one letter more, fewer or different. */
export function mistyped(rows: readonly Row[], lexicon: Lexicon): Row[] {
  const random = randomOf(SEED)
  return rows.map((row) => {
    let left = MAX_TYPOS
    const text = row.text.replace(/\b[a-z]{6,14}\b/gi, (word) => {
      if (left === 0 || !hasConcept(word.toLowerCase(), lexicon)) return word
      left--
      const at = Math.floor(random() * 3)
      const letter = LETTERS[Math.floor(random() * LETTERS.length)] ?? 'x'
      const kind = random()
      if (kind < 0.4) return word.slice(0, at) + letter + word.slice(at)
      return word.slice(0, at) + (kind < 0.7 ? '' : letter) + word.slice(at + 1)
    })
    return { ...row, text }
  })
}

function hasConcept(word: string, lexicon: Lexicon): boolean {
  const tokens = new Tokens(1)
  tokens.read(word, 0)
  return lexicon.ofWord(word, 0, word.length, tokens.hashes[0] ?? 0).length > 0
}

const pick = <T>(list: readonly T[], random: () => number): T => {
  const chosen = list[Math.floor(random() * list.length)]
  if (chosen === undefined) throw new Error('there is nothing to pick from')
  return chosen
}
