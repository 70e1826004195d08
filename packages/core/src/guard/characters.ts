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

type Ranges = readonly (readonly [first: number, last: number])[]

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

const within = (code: number, ranges: Ranges): boolean =>
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
