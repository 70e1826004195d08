import { isName } from '@remit/contract/fit'
import { Unmappable } from './errors.ts'

const MAX_LENGTH = 256

/**
 * A name as Remit takes it. Throws `Unmappable` for any other one: cleaned, the rules would judge a name that
 * does not run.
 */
export function nameOf(text: unknown, what: string): string {
  if (typeof text !== 'string') throw new Unmappable(what, 'must be a text')
  if (isName(text)) return text
  throw new Unmappable(what, `must ${problemOf(text)}`)
}

function problemOf(text: string): string {
  const chars = Array.from(text)
  if (chars.length === 0) return 'not be empty'
  if (chars.length > MAX_LENGTH) return `have at most ${MAX_LENGTH} characters`
  if (text.includes('*')) return 'not contain *'
  if (text.normalize('NFC') !== text) return 'be in the normalization form NFC of Unicode'
  const unseen = chars.find((char) => char !== ' ' && !isName(char))
  if (unseen === undefined) return 'not begin or end with a blank'
  const code = unseen.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  return `not contain the invisible character U+${code}`
}
