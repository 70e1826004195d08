import { cutEnd, splitLikePython } from './words.ts'

export type BleuTokenizer = '13a' | 'intl' | 'char' | 'none'

/** Tokenizes a text as sacrebleu does for BLEU. */
export function bleuTokens(text: string, tokenizer: BleuTokenizer): string[] {
  const line = cutEnd(text)
  if (tokenizer === '13a') return splitLikePython(mteval13a(line))
  if (tokenizer === 'intl') return splitLikePython(mteval14(line))
  return splitLikePython(tokenizer === 'char' ? Array.from(line).join(' ') : line)
}

// The international rules (mteval-v14).
const AFTER_NON_DIGIT = /(\P{N})(\p{P})/gu
const BEFORE_NON_DIGIT = /(\p{P})(\P{N})/gu
const SYMBOL = /(\p{S})/gu

const mteval14 = (line: string): string =>
  line
    .replace(AFTER_NON_DIGIT, '$1 $2 ')
    .replace(BEFORE_NON_DIGIT, ' $1 $2')
    .replace(SYMBOL, ' $1 ')

// The rules of mteval-v13a: most ASCII signs are tokens; periods, commas and hyphens only away
// from, or after, digits.
const SIGN = /([{-~[-` -&(-+:-@/])/g
const POINT_AFTER = /([^0-9])([.,])/gu
const POINT_BEFORE = /([.,])([^0-9])/gu
const HYPHEN = /([0-9])(-)/g

function mteval13a(text: string): string {
  const line = text
    .replaceAll('<skipped>', '')
    .replaceAll('-\n', '')
    .replaceAll('\n', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
  return ` ${line} `
    .replace(SIGN, ' $1 ')
    .replace(POINT_AFTER, '$1 $2 ')
    .replace(POINT_BEFORE, ' $1 $2')
    .replace(HYPHEN, '$1 $2 ')
}
