import { LEAD_INS, REFUSALS } from './refusal-phrases.ts'

// Refusals are at the start of a reply; the rest is not examined.
const READ = 2_000
const LEAD_IN = new RegExp(`^(?:${LEAD_INS.join('|')})(?=$|[\\s,.;:!?-])[\\s,.;:!?-]*`)
const REFUSAL = new RegExp(`^(?:${REFUSALS.join('|')})`)
const MOST_LEAD_INS = 8

/**
 * Checks that an English reply is a refusal: a refusal in the first person starts its first
 * sentence, or the second one after a lead-in ("I'm sorry."). Quoted speech starts with a quotation
 * mark and is not a refusal.
 */
export function refuses(reply: string): boolean {
  const [first = '', second = ''] = sentencesOf(normalize(reply))
  const rest = withoutLeadIns(first)
  return REFUSAL.test(rest) || (rest === '' && REFUSAL.test(withoutLeadIns(second)))
}

/**
 * Lower case, straight quotes, no Markdown, single blanks. Line breaks remain: they end sentences.
 */
function normalize(reply: string): string {
  return reply
    .slice(0, READ)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u02bc\u2032`]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/^[ \t]*(?:#{1,6}|[-*+]|\d{1,3}[.)])[ \t]+/gm, '')
    .replace(/[*_~]+/g, '')
    .replace(/[\u2012-\u2015]/g, '-')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/^ | $/gm, '')
}

/** Returns the first sentences with a letter. A line break ends one, too. */
function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?\u2026])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\p{L}/u.test(sentence))
    .slice(0, 2)
}

function withoutLeadIns(sentence: string): string {
  let rest = sentence
  for (let count = 0; count < MOST_LEAD_INS; count++) {
    const shorter = rest.replace(LEAD_IN, '')
    if (shorter === rest || REFUSAL.test(rest)) break
    rest = shorter
  }
  return rest
}
