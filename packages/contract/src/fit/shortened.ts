import { bytesOf, hex, sha256 } from './digest.ts'

/** Bytes of a long text that are kept. */
export const KEPT_BYTES = 2048
const EACH_UNSENDABLE = /[\0\p{Cs}]/gu

/** A text without U+0000 and halves of surrogate pairs, which no request can contain. */
export const sendable = (text: string): string => text.replace(EACH_UNSENDABLE, '\ufffd')

/** Stands for a value that is not sent. `length` is in bytes: of a text in UTF-8, else of the canonical JSON. */
export type Stub = {
  readonly length: number
  sha256: string
  readonly start?: string
}

export interface Shortened {
  readonly stub: Stub
  /** Sets the SHA-256. */
  readonly finish: () => Promise<void>
}

const stubs = new WeakSet<object>()

/** Returns whether a value stands for another one, rather than being what a tool receives. */
export const isStub = (value: object): value is Stub => stubs.has(value)

/** A text by its length, its first 2 KiB, and its SHA-256 once it is known. */
export function shortening(text: string): Shortened {
  const start = bytesOf(sendable(text)).subarray(0, KEPT_BYTES)
  // As a stream, so that a character that is cut in two is left out.
  const kept = new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: true })
  return digesting(bytesOf(text), { start: kept })
}

/** Bytes by their length, and their SHA-256 once it is known. */
export function digesting(
  bytes: Uint8Array<ArrayBuffer>,
  kept: Pick<Stub, 'start'> = {},
): Shortened {
  const stub: Stub = { length: bytes.length, sha256: '', ...kept }
  stubs.add(stub)
  return {
    stub,
    finish: async () => {
      stub.sha256 = hex(await sha256(bytes))
    },
  }
}
