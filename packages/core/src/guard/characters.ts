/** The reason why a character is normalized. Counted in `normalizations`. */
export type CharacterKind =
  | 'bidi_control'
  | 'combining_mark'
  | 'compatibility'
  | 'confusable'
  | 'control'
  | 'filler'
  | 'soft_hyphen'
  | 'tag_character'
  | 'variation_selector'
  | 'zero_width'

/** Returns the kind of an invisible code point that detectors skip; else undefined. */
export function invisibleKind(code: number): CharacterKind | undefined {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'control'
  if (code < 0xad) return undefined
  if (code === 0xad) return 'soft_hyphen'
  if (code < 0x34f) return undefined
  // Most letters and all emoji are in between; this runs once per character.
  if ((code > 0x3164 && code < 0xfe00) || (code > 0x1d17a && code < 0xe0000)) return undefined
  if (within(code, ZERO_WIDTH)) return 'zero_width'
  if (within(code, BIDI_CONTROLS)) return 'bidi_control'
  if (within(code, VARIATION_SELECTORS)) return 'variation_selector'
  if (within(code, FILLERS)) return 'filler'
  if (code >= 0xe0000 && code <= 0xe007f) return 'tag_character'
  return undefined
}

export type Ranges = readonly (readonly [first: number, last: number])[]

const ZERO_WIDTH: Ranges = [
  [0x34f, 0x34f],
  [0x180e, 0x180e],
  [0x200b, 0x200d],
  [0x2060, 0x2064],
  [0xfeff, 0xfeff],
]
const BIDI_CONTROLS: Ranges = [
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x206f],
]
const VARIATION_SELECTORS: Ranges = [
  [0x180b, 0x180d],
  [0xfe00, 0xfe0f],
  [0xe0100, 0xe01ef],
]
const FILLERS: Ranges = [
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x3164, 0x3164],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1d173, 0x1d17a],
]

export const within = (code: number, ranges: Ranges): boolean =>
  ranges.some(([first, last]) => code >= first && code <= last)

// Letters of other alphabets that look like Latin ones. Replaced only in words that mix alphabets,
// so that Russian words stay intact.
const LOOK_ALIKES =
  'аa вb еe һh іi јj кk мm нh оo рp сc ѕs тt уy хx ԁd ԛq ԝw ӏl ьb пn гr иu αa βb γy εe ηn ιi κk μu νv οo ρp σo τt υu χx ωw օo սu հh ոn ցg յj'

const LATIN = new Uint16Array(0x600)
for (const pair of LOOK_ALIKES.split(' ')) LATIN[pair.charCodeAt(0)] = pair.charCodeAt(1)

/**
 * Returns the Latin letter (lower case, as a code) that this lower-case letter looks like, or 0.
 */
export const latinLookAlike = (unit: number): number => LATIN[unit] ?? 0

/** Scripts without capitals often have no spaces either: two of their letters count as a word. */
const WORD = /\p{Lo}{2}|\p{L}{4,}/gu
/** Few words of an instruction are below; of short runs of random letters, all but one in 25. */
const LEAST = 5
const NAME = /\p{Lo}{1,2}|\p{L}+/gu

/** The words of four letters or more; random letters are none. Linear. */
export const wordsIn = (text: string): string[] =>
  (text.toLowerCase().match(WORD) ?? []).filter((word) => wordLikeness(word) >= LEAST)

/** All runs of letters, of any length. */
export const namesIn = (text: string): string[] => text.toLowerCase().match(NAME) ?? []

/**
 * How frequent each pair of letters is in words, from 0 for hardly ever to 9; a row for each first letter.
 * From the guard's vocabulary, rounded: 4.5 is the frequency in random letters, one more is twice as much.
 */
const PAIRS =
  '45761453635767361778543254' +
  '52106000520510500432500020' +
  '60416006625511710536500032' +
  '62137121710322610441521022' +
  '64675553534768353887454533' +
  '40005400600300500423400020' +
  '50106044501424410542500010' +
  '61016000500212500424301030' +
  '64767561124668752677261315' +
  '40004000200000300020300000' +
  '50105002501302400243400010' +
  '72247221702632620045530050' +
  '74127000600241660042400020' +
  '61677473624324620278541032' +
  '44553452434668550765655222' +
  '60116004501512650745400030' +
  '00000000000000000000500000' +
  '73458342714455730566542053' +
  '61627205704433652168623033' +
  '71328216801432620765503052' +
  '54545341523556240666111122' +
  '50007000600000500210100000' +
  '50015003500203400230000020' +
  '20203000300000040003000000' +
  '31313010300233340143102000' +
  '50105000400112200000201031'
const LETTERS = 26
const A = 0x61
const ZERO = 0x30
/** Of the words of the development corpora, 0.6 % are below; of twelve random letters, 95 %. */
export const LIKE_A_WORD = 4.1
/** Fewer say nothing. */
const MIN_PAIRS = 3

/**
 * Returns how frequent the pairs of neighboring letters are in words of European languages, on average,
 * from 0 to 9. A capital begins a new word after a small letter. Infinity for fewer than three pairs of
 * a to z: other letters are not known.
 */
export function wordLikeness(text: string): number {
  let sum = 0
  let pairs = 0
  let before = -1
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const letter = (unit | 0x20) - A
    if (letter < 0 || letter >= LETTERS) {
      before = -1
      continue
    }
    const isNewWord = unit < A && text.charCodeAt(at - 1) >= A
    if (before >= 0 && !isNewWord) {
      sum += PAIRS.charCodeAt(before * LETTERS + letter) - ZERO
      pairs++
    }
    before = letter
  }
  return pairs < MIN_PAIRS ? Infinity : sum / pairs
}
