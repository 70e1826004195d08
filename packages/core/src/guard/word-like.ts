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
