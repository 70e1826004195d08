import { randomFillSync } from 'node:crypto'

/** Makes identifiers: `dec_` + 10 characters of time + 16 random ones, so they sort by time. */
export interface Ids {
  next(prefix: string, nowMs: number): string
}

// Crockford's base 32: no letter that reads as a digit; sorts like its value.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const pool = Buffer.alloc(4096)
let used = pool.length

/** 80 random bits an id, drawn from a pooled buffer: one system call a few hundred ids. */
export const randomIds: Ids = {
  next(prefix, nowMs) {
    if (used + 16 > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    let text = prefix
    for (let shift = 45; shift >= 0; shift -= 5) {
      text += ALPHABET[Math.floor(nowMs / 2 ** shift) % 32]
    }
    for (let i = 0; i < 16; i++) text += ALPHABET[(pool[used++] ?? 0) & 31]
    return text
  },
}
