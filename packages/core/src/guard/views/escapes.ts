import type { View } from '../view.ts'
import { replaced } from './writer.ts'

const HINT = /[\\&%=][xu#0-9a-fA-F{]/
const ESCAPE =
  /\\x([0-9a-fA-F]{2})|\\u\{?([0-9a-fA-F]{4,6})\}?|&#x([0-9a-fA-F]{1,6});|&#([0-9]{1,7});|((?:%[0-9a-fA-F]{2})+)|((?:=[0-9A-F]{2})+)|&(lt|gt|amp|quot|apos|nbsp|zwnj|shy);/g
const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  zwnj: '',
  shy: '',
}
const MIN_ESCAPES = 3
const UTF8 = new TextDecoder('utf-8')

/** Decodes `\x41`, `\u0041`, `&#65;`, `%41` and `=41`; null if there are few. */
export function unescaped(text: string): View | null {
  if (!HINT.test(text)) return null
  let count = 0
  const view = replaced('escapes', text, ESCAPE, (match) => {
    const [, byte, unit, hexadecimal, decimal, percent, printable, name] = match
    if (name !== undefined) return NAMED[name] ?? null
    count += percent || printable ? (percent ?? printable ?? '').length / 3 : 1
    if (byte !== undefined) return fromCode(Number.parseInt(byte, 16))
    if (unit !== undefined) return fromCode(Number.parseInt(unit, 16))
    if (hexadecimal !== undefined) return fromCode(Number.parseInt(hexadecimal, 16))
    if (decimal !== undefined) return fromCode(Number(decimal))
    const bytes = (percent ?? printable ?? '').replace(/[%=]/g, '')
    return UTF8.decode(Buffer.from(bytes, 'hex'))
  })
  return count >= MIN_ESCAPES ? view : null
}

const fromCode = (code: number): string | null =>
  code <= 0x10ffff ? String.fromCodePoint(code) : null
