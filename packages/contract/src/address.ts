import { isName } from './fit/values.ts'

/**
 * An address or a path that two readers could take for different things. The message states what is accepted,
 * and follows the name of the place.
 */
export class AddressError extends Error {
  override readonly name = 'AddressError'
}

const PARTS = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?/isu
/** Visible ASCII without `*`, which is a pattern, and `\`, which some readers take for `/`. */
const PLAIN = /^[!-)+-[\]-~]*$/
const UNRESERVED = /[\w.~-]/
/** Characters that mean the same with and without an escape: those that separate nothing in their part. */
const IN_HOST = /[\w.~!$&'()+,;=-]/
const IN_PATH = /[\w.~!$&'()+,;=:@[\]-]/
const IN_QUERY = /[\w.~!$'(),/:?@[\]-]/
/** Characters that `URL` escapes in some parts alone. */
const ESCAPED = /[ "<>^`{|}]/g
/** Schemes whose addresses have a host, for every reader of the WHATWG URL standard. */
const WITH_HOST = new Set(['http', 'https', 'ws', 'wss', 'ftp'])
const CONTROL = /%(?:[01][0-9a-f]|7f)/i
const TWICE = /%25[0-9a-f]{2}/i
const SEPARATOR = /%(?:2f|5c)/i
const DOT = /^(?:\.|%2e)$/i
const DOT_DOT = /^(?:\.|%2e){2}$/i
const DRIVE = /^[A-Za-z]:(?=\/|$)/

/**
 * The normal form of an address, in which rules and approvals see it: parsed by the WHATWG URL standard, without
 * `.` and `..`, without fragment, and with the characters that need no escape. Throws `AddressError` where a
 * server could read something else in it. Pure.
 */
export function normalAddress(text: string): string {
  const url = resolved(text)
  const [, scheme = '', authority, path = '', query = ''] = PARTS.exec(url.href) ?? []
  const host = authority === undefined ? '' : `//${spelled(authority, IN_HOST)}`
  const name = `${scheme}:${host}${spelled(path, IN_PATH)}${spelled(query, IN_QUERY)}`
  return fitting(scheme === 'file' ? ofFile(url, name) : name)
}

/**
 * The address that a server gets: it is resolved as the normal form is, and has the escapes that came, as far as
 * they are of other characters than letters, digits and `-._~`. Throws `AddressError` as `normalAddress` does. Pure.
 */
export function sentAddress(text: string): string {
  const url = resolved(text)
  const name = decoded(url.href, UNRESERVED)
  const address = url.protocol === 'file:' ? ofFile(url, name) : name
  return address === text ? text : new URL(address).href
}

function resolved(text: string): URL {
  checkCharacters(text)
  const [, given = '', authority, path = '', query = ''] = PARTS.exec(text) ?? []
  const scheme = given.toLowerCase()
  if (scheme === '') throw new AddressError('must be an address with a scheme')
  // Without the fragment it would end in a blank, which `URL` drops.
  if (`${path}${query}`.endsWith(' ')) throw new AddressError('must have no outer blanks')
  checkEscapes(text, `${authority ?? ''}${path}`)
  checkAuthority(scheme, authority)
  const isOpaque = authority === undefined && !path.startsWith('/')
  checkSegments(path.split('/'), isOpaque)
  // Some readers begin at their own folder.
  if (scheme === 'file' && isOpaque) throw new AddressError('must be an absolute path')
  const url = parsed(`${given}:${authority === undefined ? '' : `//${authority}`}${path}${query}`)
  checkHost(scheme, url)
  // An empty query is none.
  if (url.search === '') url.search = ''
  return url
}

/** Path of a file in normal form: see `normalPath`. */
function ofFile({ host, pathname, search }: URL, name: string): string {
  if (host !== '' || search !== '')
    throw new AddressError('must be an address of a file, without host and query')
  const path = name.slice('file://'.length)
  const segments = (DRIVE.test(path.slice(1)) ? path.slice(1) : path).split('/')
  // A reader that resolves the escape before it parses takes the bar for the colon of a drive.
  if (/^\/%[0-9a-f]{2}\|(?:\/|$)/i.test(pathname))
    throw new AddressError('must have a colon after the letter of a drive')
  if (segments.some((segment) => /^%20|%20$/.test(segment)))
    throw new AddressError('must have no blanks around the names of its path')
  return `file://${path.startsWith('/') && DRIVE.test(path.slice(1)) ? '/' : ''}${joined(segments)}`
}

/**
 * The normal form of a path of a file: without `.`, `..`, repeated and last slashes, and with `/` after the
 * letter of a drive. An absolute one unless `isRelative`. Throws `AddressError` where a server could read
 * something else in it. Pure.
 */
export function normalPath(text: string, isRelative = false): string {
  const path = /^[A-Za-z]:[\\/]/.test(text) ? text.replaceAll('\\', '/') : text
  checkCharacters(path)
  if (/%[0-9a-f]{2}/i.test(path)) throw new AddressError('must be a path without escapes')
  const isAbsolute = /^(?:[A-Za-z]:)?\//.test(path)
  // A home, another machine, or the current folder of a drive.
  if (isAbsolute === isRelative || /^(?:~|\/\/|[A-Za-z]:(?!\/))/.test(path))
    throw new AddressError(`must be ${isRelative ? 'a relative' : 'an absolute'} path`)
  return fitting(joined(path.split('/')))
}

/** Joins the segments of a path, and follows its dot segments. */
function joined(segments: readonly string[]): string {
  const [root = ''] = segments
  const hasDrive = DRIVE.test(root)
  const isAbsolute = hasDrive || root === ''
  const kept: string[] = []
  for (const segment of isAbsolute ? segments.slice(1) : segments) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') kept.push(segment)
    else if (kept.pop() === undefined) throw outside()
  }
  // Windows drops these, and reads another file.
  if (hasDrive && kept.some((segment) => /[. ]$|:/.test(segment)))
    throw new AddressError('must have no names that end in a dot or a blank, or have a colon')
  const rest = kept.join('/')
  return isAbsolute ? `${hasDrive ? root.toUpperCase() : ''}/${rest}` : rest
}

const outside = (): AddressError => new AddressError('must not leave its root with ".."')

function checkCharacters(text: string): void {
  if (PLAIN.test(text)) return
  const isUsable =
    !/^ | $/.test(text) &&
    text.normalize('NFC') === text &&
    Array.from(text).every((character) => character === ' ' || isUsual(character))
  if (isUsable) return
  throw new AddressError(
    'must be in NFC, without invisible characters, blanks other than U+0020, outer blanks, * or \\',
  )
}

const isUsual = (character: string): boolean => character !== '\\' && isName(character)

function checkEscapes(text: string, place: string): void {
  if (SEPARATOR.test(place)) throw new AddressError('must have no escaped slash or backslash')
  if (CONTROL.test(text)) throw new AddressError('must have no escaped control characters')
  if (TWICE.test(text)) throw new AddressError('must not be escaped twice')
  try {
    decodeURIComponent(text)
  } catch {
    throw new AddressError('must have escapes of UTF-8 alone')
  }
}

/** Readers skip or add slashes before a host, and take different parts for it. */
function checkAuthority(scheme: string, authority = ''): void {
  if (!WITH_HOST.has(scheme)) return
  if (authority === '') throw new AddressError(`must begin with ${scheme}:// and a host`)
  if (authority.includes('@')) throw new AddressError('must have no user name')
}

function checkHost(scheme: string, { hostname }: URL): void {
  if (/^(?:\.|%2e){1,2}$/i.test(hostname)) throw outside()
  if (WITH_HOST.has(scheme) && hostname.endsWith('.'))
    throw new AddressError('must have no dot behind its host')
}

/** `URL` stops `..` at the root, and keeps it where there is no root. */
function checkSegments(segments: readonly string[], isOpaque: boolean): void {
  let depth = 0
  for (const [at, segment] of segments.entries()) {
    const isDot = DOT.test(segment)
    const isDotDot = DOT_DOT.test(segment)
    if (isOpaque && (isDot || isDotDot))
      throw new AddressError('must have no "." and ".." without a root')
    // Readers that merge slashes count other segments for `..`.
    if (segment === '' && at > 0 && at < segments.length - 1)
      throw new AddressError('must have no repeated slashes in its path')
    if (at === 0 || isDot) continue
    depth += isDotDot ? -1 : 1
    if (depth < 0) throw outside()
  }
}

function parsed(text: string): URL {
  try {
    return new URL(text)
  } catch {
    throw new AddressError('must be an address with a scheme')
  }
}

/** Each character in the one of its spellings that the normal form has. */
const spelled = (part: string, plain: RegExp): string =>
  decoded(part, plain).replace(ESCAPED, encodeURIComponent)

/** Escapes of characters that need none become these characters; the others are upper case. */
const decoded = (part: string, plain: RegExp): string =>
  part.replace(/(?:%[0-9A-F]{2})+/gi, (escapes) =>
    Array.from(decodeURIComponent(escapes), (character) => {
      if (character > '\x7f') return isName(character) ? character : encodeURIComponent(character)
      if (plain.test(character)) return character
      return `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}`
    }).join(''),
  )

function fitting(normal: string): string {
  if (normal === '' || isName(normal)) return normal
  throw new AddressError('must have at most 256 characters in normal form, in NFC')
}
