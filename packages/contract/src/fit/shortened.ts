import { bytesOf, hex, sha256 } from './digest.ts'
import type { Json } from './json.ts'

/** Bytes of a long text that are kept. */
export const KEPT_BYTES = 2048
const EACH_UNSENDABLE = /[\0\p{Cs}]/gu

/** A text without U+0000 and halves of surrogate pairs, which no request can contain. */
export const sendable = (text: string): string => text.replace(EACH_UNSENDABLE, '\ufffd')

/** A text by its length in bytes of UTF-8 and its first 2 KiB, and its SHA-256 once it is known. */
export function shortening(text: string): {
  readonly made: Json
  readonly finish: () => Promise<void>
} {
  const bytes = bytesOf(text)
  const start = bytesOf(sendable(text)).subarray(0, KEPT_BYTES)
  const made = {
    length: bytes.length,
    sha256: '',
    // As a stream, so that a character that is cut in two is left out.
    start: new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: true }),
  }
  return {
    made,
    finish: async () => {
      made.sha256 = hex(await sha256(bytes))
    },
  }
}

/** A text by its SHA-256, its length in bytes of UTF-8 and its first 2 KiB. */
export async function shortened(text: string): Promise<Json> {
  const { made, finish } = shortening(text)
  await finish()
  return made
}
