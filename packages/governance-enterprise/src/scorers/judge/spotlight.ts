import { createHmac } from 'node:crypto'
import { canonicalJson } from '@remit/core'

/**
 * The id of the blocks that hold judged text: whoever wrote the text cannot know it, and it is the
 * same whenever the same is judged. `secret` is this process's own.
 */
export const blockId = (secret: Uint8Array, fields: unknown): string =>
  createHmac('sha256', secret).update(canonicalJson(fields)).digest('hex').slice(0, 32)

// Marks that end a block, and characters that a person does not see but a model reads: all format
// characters (text direction, tags, zero width) but the two that join letters and emoji, further
// variation selectors, line ends that are not JSON's.
const TELLING = /[<>\u2028\u2029]|[\u{e0100}-\u{e01ef}]|(?!\u200c|\u200d)\p{Cf}/gu

/** A judged value as JSON in which nothing can end its block or hide from a person. */
export function inert(value: unknown): string {
  const json = typeof value === 'string' ? JSON.stringify(value) : canonicalJson(value)
  return json.replace(TELLING, escaped)
}

function escaped(character: string): string {
  let text = ''
  for (let i = 0; i < character.length; i++) {
    text += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  }
  return text
}

/** A block of judged data. */
export const block = (id: string, field: string, value: unknown): string =>
  `<untrusted id="${id}" field="${field}">${inert(value)}</untrusted>`
