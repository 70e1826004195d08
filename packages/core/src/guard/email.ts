// `logo@2x.png` and `git@host` look like addresses, but are not.
const FILE_NAME = /\.(?:css|gif|ico|jpe?g|js|json|md|pdf|png|svg|ts|webp|zip)$/i
const LOCAL_PART = /[\p{L}\p{N}._%+-]{1,65}$/u
const DOMAIN = /[\p{L}\p{N}][\p{L}\p{N}.-]{0,252}\.\p{L}{2,24}(?![\p{L}\p{N}_-])/uy
const MAX_LOCAL = 64

/**
 * Yields the e-mail addresses of a text, [start, end). Searches from every @ in both directions,
 * which is linear.
 */
export function* findEmails(text: string): Generator<readonly [start: number, end: number]> {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    DOMAIN.lastIndex = at + 1
    if (!DOMAIN.test(text)) continue
    const end = DOMAIN.lastIndex
    const local = LOCAL_PART.exec(text.slice(Math.max(0, at - 2 * MAX_LOCAL), at))?.[0] ?? ''
    if (isAddress(local, text.slice(at + 1, end)) && !isUserinfo(text, at))
      yield [at - local.length, end]
  }
}

const USERINFO = /:\/\/[^\s/?#]*$/
const MAX_USERINFO = 256

/** Returns true if the text before the @ is the user information of a URL. */
const isUserinfo = (text: string, at: number): boolean =>
  USERINFO.test(text.slice(Math.max(0, at - MAX_USERINFO), at))

function isAddress(local: string, domain: string): boolean {
  if (local === '' || local === 'git' || local.length > MAX_LOCAL) return false
  if (local.startsWith('.') || local.endsWith('.') || FILE_NAME.test(domain)) return false
  return !local.includes('..') && !domain.includes('..')
}
