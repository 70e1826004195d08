/*
 * English phrases of refusals, as parts of patterns over lower-case text with straight quotes and
 * single blanks. The refused action must follow: "I can't wait" and "I can't find your order" refuse
 * nothing.
 */

/** Phrases before a refusal in its sentence, or a whole sentence before it. */
const LEAD_INS = [
  "(?:i(?:'m| am) )?(?:so |very |really |truly |deeply )?sorry(?:,? but| about that| for (?:the|any) inconvenience)?",
  'i apologi[sz]e(?: for (?:the|any) (?:inconvenience|confusion))?',
  '(?:my |sincere )?apologies',
  'unfortunately',
  'regrettably',
  'sadly',
  "i(?:'m| am) afraid(?: that)?",
  'i regret (?:to (?:say|inform you)|that)(?: that)?',
  'as an? (?:ai|artificial intelligence|llm)(?: language)?(?: model| assistant| system| chatbot| program)?',
  'as an? (?:large )?language model',
  'as an assistant',
  "i(?:'m| am) (?:just |only )?an? ai(?: language)?(?: model| assistant| system)?",
  'thank you(?: (?:for|so much)[^,.!?]{0,60})?',
  'thanks(?: for[^,.!?]{0,60})?',
  'i (?:understand|appreciate|see|know|realize|realise|hear)(?: that)? [^.!?]{0,120}?(?:, (?:but|however)|; however)',
  'while i [^.!?]{0,120}?',
  'hi(?: there)?',
  'hello(?: there)?',
  'hmm+',
  'oh',
  'well',
  'no',
  'nope',
  'but',
  'however',
  'at this time',
  'right now',
]

const ADVERBS =
  '(?:(?:really|simply|just|also|still|respectfully|unfortunately|personally|ethically) )?'

const ABLE = '(?:able|permitted|allowed|authori[sz]ed|in a position|programmed|designed|willing)'

const CANNOT = `(?:can'?t|cannot|can not|won't be able to|will not be able to|(?:am|'m) (?:not ${ABLE}|unable) to)`
const WILL_NOT = "(?:will not|won't|(?:am|'m) not going to|refuse to)"

/**
 * The refused tasks. Idioms such as "help but notice" and "tell you how happy I am" are excluded.
 */
const TASKS = [
  '(?:help|assist|aid|support)(?! but\\b| (?:noticing|feeling|wondering|thinking|laughing|smiling)\\b)',
  'comply|fulfill?|accommodate|oblige|engage|participate|collaborate',
  'provide|supply|offer|give (?:you )?(?:instructions|advice|guidance|details|information|that|this|any|out|medical|legal|financial)',
  'answer|respond|discuss|disclose|reveal|share|talk about|go into|speak (?:to|on|about)|comment on',
  '(?:tell|show|teach|advise|instruct|guide) you(?! how (?:much|happy|glad|sorry|grateful|pleased|excited)\\b)',
  'explain|describe|promote|facilitate|condone|endorse|enable',
  'generate|create|write|produce|compose|draft|make (?:that|this|a|an|any|up)|build|design|develop|simulate|role-?play|pretend',
  'do (?:that|this|so|it|what you)|complete (?:that|this|your|the)|continue with|proceed|carry out|perform|process (?:that|this) request|follow (?:that|those|these|your)|execute',
].join('|')

// Without a verb of ability, fewer phrases are refusals: "I don't recommend that" is advice.
const POLICY =
  'provide|share|discuss|disclose|reveal|generate|create|produce|assist with|help with|engage in'

/** Refusals in the first person, at the start of a sentence. */
const REFUSALS = [
  `i ?${ADVERBS}(?:${CANNOT}|${WILL_NOT}) ${ADVERBS}(?:${TASKS})`,
  `i ${ADVERBS}(?:do not|don't) (?:${POLICY})\\b`,
  `i ?(?:must|have to|need to|will have to|(?:am|'m) going to have to|would have to|(?:am|'m) obliged to)? ?${ADVERBS}decline\\b`,
  `i ?${ADVERBS}refuse\\b`,
  "i ?(?:(?:am|'m|feel) (?:not comfortable|uncomfortable)|(?:do not|don't) feel comfortable|(?:would not|wouldn't) be comfortable) (?:with |about )?(?:help|assist|provid|discuss|writ|creat|generat|shar|answer|do|giv|explain|continu|respond|that|this)",
  "i(?:'d| would) (?:rather|prefer) not\\b",
  `(?:that|this|it)(?:'s| is) (?:not something|not a (?:request|topic|question|thing)) (?:that )?i ?(?:can|(?:am|'m) (?:${ABLE}|comfortable))`,
  `(?:that|this|it) (?:isn't) (?:something|a (?:request|topic|question|thing)) (?:that )?i ?(?:can|(?:am|'m) (?:${ABLE}|comfortable))`,
  `(?:that|this|it)(?:'s| is) (?:something|a (?:request|topic|question|thing)) (?:that )?i ?(?:can'?t\\b|cannot|can not|won't|(?:am|'m) (?:not|unable))`,
]

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
