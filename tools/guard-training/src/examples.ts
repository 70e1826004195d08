import { Features, findHits, normalize, signatureIndex, Tokens } from '@remit/core/guard/internals'
import type { Lexicon, View, WordClasses } from '@remit/core/guard/internals'
import type { Example } from './head.ts'
import { isDocument } from './rows.ts'
import type { Row } from './rows.ts'

const MAX_TEXT = 6_000
const MAX_TOKENS = 600

/** Makes examples of rows; rows without a token are none. */
export function exampler(lexicon: Lexicon, classes: WordClasses, repair: (view: View) => View) {
  const tokens = new Tokens(MAX_TOKENS)
  const features = new Features(lexicon, classes, MAX_TOKENS)
  return (row: Row, asDocument = isDocument(row.ctx)): Example | null => {
    const text = repair(normalize(row.text.slice(0, MAX_TEXT)).view).text
    tokens.read(text, 0)
    if (tokens.count === 0) return null
    const hits = findHits(text, signatureIndex, asDocument ? 'document' : 'user')
    features.extract(text, tokens, asDocument, hits)
    const ends = features.ends.slice(0, tokens.count + 1)
    const ids = features.ids.slice(0, ends[tokens.count])
    const sentences = asDocument ? tokens.sentences.slice() : undefined
    return { attack: row.label === 1, ids, ends, tokens: tokens.count, sentences }
  }
}
