import { spellOut as spelled, UNSEEN } from '@remit/contract/fit'

export interface Part {
  readonly text: string
  /** A character that is spelled out. */
  readonly isSpelled: boolean
}

/** The text in parts, with invisible characters spelled out. Line breaks are kept where `lines`. */
export function partsOf(text: string, lines = false): Part[] {
  const parts: Part[] = []
  let at = 0
  for (const match of text.matchAll(UNSEEN)) {
    if (lines && (match[0] === '\n' || match[0] === '\t')) continue
    if (match.index > at) parts.push({ text: text.slice(at, match.index), isSpelled: false })
    parts.push({ text: spelled(match[0]), isSpelled: true })
    at = match.index + match[0].length
  }
  if (at < text.length) parts.push({ text: text.slice(at), isSpelled: false })
  return parts
}

export const spellOut = (text: string, lines = false): string =>
  spelled(text, lines ? { keep: '\n\t' } : {})
