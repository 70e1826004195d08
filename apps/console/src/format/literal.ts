/**
 * Control, format, private and unassigned characters, blanks other than U+0020, and line breaks: text
 * from an agent must not hide or reorder what a person reads.
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} ]/gu

const spelled = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`

export interface Part {
  readonly text: string
  /** A character that is spelled out. */
  readonly isSpelled: boolean
}

/** The text in parts, with invisible characters spelled out. Line breaks are kept where `lines`. */
export function partsOf(text: string, lines = false): Part[] {
  const parts: Part[] = []
  let at = 0
  for (const match of text.matchAll(INVISIBLE)) {
    if (lines && (match[0] === '\n' || match[0] === '\t')) continue
    if (match.index > at) parts.push({ text: text.slice(at, match.index), isSpelled: false })
    parts.push({ text: spelled(match[0]), isSpelled: true })
    at = match.index + match[0].length
  }
  if (at < text.length) parts.push({ text: text.slice(at), isSpelled: false })
  return parts
}

export const spellOut = (text: string, lines = false): string =>
  partsOf(text, lines)
    .map((part) => part.text)
    .join('')
