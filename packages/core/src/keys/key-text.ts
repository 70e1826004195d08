import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

// A key is 69 characters: `rmk_`, 16 of public id, 43 of secret (256 bits), 6 of CRC-32 over all before.
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_TEXT = /^rmk_[0-9A-Za-z]{65}$/
const ID_LENGTH = 16
const SECRET_LENGTH = 43

export interface NewKey {
  /** `key_` and the public part. */
  readonly id: string
  /** The whole key, shown once. */
  readonly secret: string
  readonly hash: string
}

/** A new ingest key; nothing is stored. */
export function generateKey(): NewKey {
  const body = `rmk_${randomBase62(ID_LENGTH + SECRET_LENGTH)}`
  return describeKey(body + checksum(body))
}

/** The id and hash of a key text, or null when it is not well-formed (a typo fails its checksum). */
export function parseKey(text: string): NewKey | null {
  if (!KEY_TEXT.test(text) || checksum(text.slice(0, -6)) !== text.slice(-6)) return null
  return describeKey(text)
}

const describeKey = (text: string): NewKey => ({
  id: `key_${text.slice(4, 4 + ID_LENGTH)}`,
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
