/** A part of a text: [start, end) in UTF-16 units. */
export interface TextPart {
  readonly start: number
  readonly end: number
}

/** About a page: what is judged as one, in training too. */
const LENGTH = 2_500
/** A text of up to this length is one part. */
const WHOLE = 3_000
/** A part ends with a line or a sentence, unless that would make it shorter than this. */
const SHORTEST = 1_000

/** The parts that a text is judged in, one after the other; they leave nothing out. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = []
  let start = 0
  while (text.length - start > WHOLE) {
    const end = start + cutIn(text.slice(start, start + LENGTH))
    parts.push({ start, end })
    start = end
  }
  if (start < text.length || start === 0) parts.push({ start, end: text.length })
  return parts
}

/** After the last line, sentence or word, whichever comes first in this list. */
function cutIn(text: string): number {
  for (const separator of ['\n', '. ', ' ']) {
    const at = text.lastIndexOf(separator)
    if (at >= SHORTEST) return at + separator.length
  }
  // Not between the halves of a character.
  const unit = text.charCodeAt(text.length - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? text.length - 1 : text.length
}
