import { createHmac } from 'node:crypto'
import { canonicalJson } from '@remit/core'

/**
 * The id of the blocks of judged text: unpredictable for the author of the text, and constant for
 * equal content. `secret` belongs to this process.
 */
export const blockId = (secret: Uint8Array, fields: unknown): string =>
  createHmac('sha256', secret).update(canonicalJson(fields)).digest('hex').slice(0, 32)

// Characters that end a block, and characters that are invisible to people but not to models: format
// characters (text direction, tags, zero width) except the two joiners, further variation selectors,
// line ends outside JSON.
const TELLING = /[<>\u2028\u2029]|[\u{e0100}-\u{e01ef}]|(?!\u200c|\u200d)\p{Cf}/gu

/** A judged value as JSON in which nothing can end its block or is invisible. */
export function inert(value: unknown): string {
  const json = typeof value === 'string' ? JSON.stringify(value) : canonicalJson(value)
  return json.replace(TELLING, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** A block of judged data. */
export const block = (id: string, field: string, value: unknown): string =>
  `<untrusted id="${id}" field="${field}">${inert(value)}</untrusted>`
