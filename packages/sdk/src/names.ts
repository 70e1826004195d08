import { hex, sha256 } from '@remit/contract/fit'

const MAX_LENGTH = 256
const HASH_LENGTH = 9
/** No `*` and no invisible character: the characters that names of Remit must not contain. */
const UNUSABLE =
  /[\u{16FE4}\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{DI}\p{NChar}\p{Zl}\p{Zp}[\p{Zs}--\x20]\u2800\uFFFC\u{13441}\u{13442}\u{1D159}*]/gv

/** Most names, at a fraction of the time. */
const PLAIN = /^[\w.:/-]{1,256}$/

/**
 * A text as Remit takes names: at most 256 characters, NFC, without invisible characters, outer blanks
 * or `*`. A text that had to be changed ends in `~` and 8 hex digits of its SHA-256, so that different
 * texts stay different.
 */
export const toName = (text: string): string | Promise<string> =>
  PLAIN.test(text) ? text : cleaned(text)

async function cleaned(text: string): Promise<string> {
  const clean = text
    .normalize('NFC')
    .replace(UNUSABLE, '_')
    .replace(/^ +| +$/g, '')
  const chars = Array.from(clean)
  if (clean === text && chars.length > 0 && chars.length <= MAX_LENGTH) return text
  const start = chars.slice(0, MAX_LENGTH - HASH_LENGTH).join('')
  return `${start}~${hex(await sha256(text)).slice(0, HASH_LENGTH - 1)}`
}
