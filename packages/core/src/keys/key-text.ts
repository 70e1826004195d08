import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

// 69 characters: a prefix, 16 of public id, 43 of secret (256 bits), 6 of CRC-32 over the rest.
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TEXT = /^rm[ckf]_[0-9A-Za-z]{65}$/
const KEY_LENGTH = 69
const PREFIX_LENGTH = 4
const ID_LENGTH = 16
const SECRET_LENGTH = 43

/** Ingest keys, issued credentials, credentials of a token exchange, and keys of operators. */
export type Prefix = 'rmk_' | 'rmc_' | 'rmf_' | 'rmo_'

export interface NewKey {
  /** `key_` and the public part. */
  readonly id: string
  /** The whole key, which is shown once. */
  readonly secret: string
  readonly hash: string
}

/** Generates an ingest key without storing it. */
export const generateKey = (): NewKey => describeKey(generateText('rmk_'))

/** Generates a secret text without storing it. */
export function generateText(prefix: Prefix): string {
  const body = prefix + randomBase62(ID_LENGTH + SECRET_LENGTH)
  return body + checksum(body)
}

/**
 * Returns the id and hash of a key text, or null if it is not well-formed (a typo fails its
 * checksum).
 */
export const parseKey = (text: string): NewKey | null =>
  text.startsWith('rmk_') && isKeyText(text) ? describeKey(text) : null

/** Returns true if a text has the form and checksum of a key. */
export const isKeyText = (text: string): boolean =>
  TEXT.test(text) && checksum(text.slice(0, -6)) === text.slice(-6)

/**
 * Returns why an `Authorization` header cannot hold a key, by its form alone: the display form or id of a key,
 * or a key with another length. Null for every other header; it never says whether a key exists.
 */
export function formFault(header: string | undefined): string | null {
  const [, text = ''] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? []
  if (/^(?:key|cred)_[0-9A-Za-z]{16}$/.test(text)) return 'This is the id of a key, not its secret'
  if (!/^(?:rmk|rmc|rmf|rmo)_/.test(text) || text.length === KEY_LENGTH) return null
  // A header has bytes: an ellipsis in UTF-8 arrives as three characters.
  if (/^rm\w_(?:[0-9A-Za-z]{16}$|\.\.\.|\*|\u2026|\u00e2\u0080\u00a6)/.test(text))
    return `This is the display form of a ${text.startsWith('rmk_') ? 'key' : 'credential'}, not its secret, which was shown once when it was created`
  return `A key has ${KEY_LENGTH} characters, and this text ${text.length}: it is cut off, or something is added`
}

/** Returns the public part of a well-formed text. */
export const publicPart = (text: string): string =>
  text.slice(PREFIX_LENGTH, PREFIX_LENGTH + ID_LENGTH)

const describeKey = (text: string): NewKey => ({
  id: `key_${publicPart(text)}`,
  secret: text,
  hash: hashKey(text),
})

/**
 * A fast hash is enough for 256 random bits, and a slow one would let invalid keys use up the CPU.
 */
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

/** Uniform characters: bytes from 248 are drawn again, as 248 is the largest multiple of 62. */
function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62)
    }
  }
  return text
}
