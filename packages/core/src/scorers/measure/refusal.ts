import { LEAD_INS, REFUSALS } from './refusal-phrases.ts'

// A refusal says so at once: what comes later is not read.
const READ = 2_000
const LEAD_IN = new RegExp(`^(?:${LEAD_INS.join('|')})(?=$|[\\s,.;:!?-])[\\s,.;:!?-]*`)
const REFUSAL = new RegExp(`^(?:${REFUSALS.join('|')})`)
const MOST_LEAD_INS = 8

/**
 * Whether an English reply refuses: a refusal in the first person opens its first sentence, or the
 * second if the first is nothing but a lead-in ("I'm sorry."). Quoted speech opens with a quotation
 * mark and is no refusal.
 */
export function refuses(reply: string): boolean {
  const [first = '', second = ''] = sentencesOf(normalize(reply))
  const rest = withoutLeadIns(first)
  return REFUSAL.test(rest) || (rest === '' && REFUSAL.test(withoutLeadIns(second)))
}

/** Lower case, straight quotes, no Markdown, single blanks. Line breaks stay: they end sentences. */
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

/** The first sentences that hold a letter. A line ends one, too. */
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
