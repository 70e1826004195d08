import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

// 69 characters: a prefix, 16 of public id, 43 of secret (256 bits), 6 of CRC-32 over all before.
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TEXT = /^rm[ckf]_[0-9A-Za-z]{65}$/
const PREFIX_LENGTH = 4
const ID_LENGTH = 16
const SECRET_LENGTH = 43

/** Ingest keys; credentials that were issued; credentials of a token exchange. */
export type Prefix = 'rmk_' | 'rmc_' | 'rmf_'

export interface NewKey {
  /** `key_` and the public part. */
  readonly id: string
  /** The whole key, shown once. */
  readonly secret: string
  readonly hash: string
}

/** A new ingest key; nothing is stored. */
export const generateKey = (): NewKey => describeKey(generateText('rmk_'))

/** A new secret text; nothing is stored. */
export function generateText(prefix: Prefix): string {
  const body = prefix + randomBase62(ID_LENGTH + SECRET_LENGTH)
  return body + checksum(body)
}

/** The id and hash of a key text, or null when it is not well-formed (a typo fails its checksum). */
export const parseKey = (text: string): NewKey | null =>
  text.startsWith('rmk_') && isKeyText(text) ? describeKey(text) : null

/** Whether a text is one of ours by its form and checksum. */
export const isKeyText = (text: string): boolean =>
  TEXT.test(text) && checksum(text.slice(0, -6)) === text.slice(-6)

/** The public part of a well-formed text. */
export const publicPart = (text: string): string =>
  text.slice(PREFIX_LENGTH, PREFIX_LENGTH + ID_LENGTH)

const describeKey = (text: string): NewKey => ({
  id: `key_${publicPart(text)}`,
  secret: text,
  hash: hashKey(text),
})

/** A plain hash is enough for 256 random bits, and a slow one would let any wrong key burn our CPU. */
export const hashKey = (text: string): string => hash('sha256', text, 'hex')

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = BASE62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Uniform characters: bytes from 248 up are drawn again, 248 being the last multiple of 62. */
function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62)
    }
  }
  return text
}
