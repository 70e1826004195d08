import { randomBytes } from 'node:crypto'

/** Makes identifiers: `dec_` + 10 characters of time + 16 random ones, so they sort by time. */
export interface Ids {
  next(prefix: string, nowMs: number): string
}

// Crockford's base 32: no letter that looks like a digit; sorts like its value.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const POOL_BYTES = 4096
const RANDOM_LENGTH = 16
let pool = ''
let used = 0
let last = { ms: Number.NaN, text: '' }

/** 80 random bits per id, drawn from a pool: one system call per few hundred ids. */
export const randomIds: Ids = {
  next(prefix, nowMs) {
    if (used === pool.length) {
      // Five bits of each byte are as random as the whole byte.
      const units = randomBytes(POOL_BYTES)
      for (let at = 0; at < POOL_BYTES; at++) units[at] = ALPHABET.charCodeAt((units[at] ?? 0) & 31)
      pool = units.toString('latin1')
      used = 0
    }
    used += RANDOM_LENGTH
    return prefix + timeText(nowMs) + pool.slice(used - RANDOM_LENGTH, used)
  },
}

/** The last millisecond of the year 9999, beyond which times no longer sort as text. */
const LATEST = 253_402_300_799_999

/** Returns the time of an id from `randomIds`, in milliseconds; null for any other text. */
export function timeOfId(id: string): number | null {
  const [, digits] = /^[a-z]+_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id) ?? []
  if (digits === undefined) return null
  let ms = 0
  for (const digit of digits) ms = ms * 32 + ALPHABET.indexOf(digit)
  return ms <= LATEST ? ms : null
}

/** 50 bits of time, five per character; several ids can share a millisecond. */
function timeText(ms: number): string {
  if (ms === last.ms) return last.text
  let text = ''
  for (let shift = 45; shift >= 0; shift -= 5) text += ALPHABET[Math.floor(ms / 2 ** shift) % 32]
  last = { ms, text }
  return text
}
