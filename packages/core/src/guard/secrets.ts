import { findUrlPasswords, withoutOverlaps } from '../personal-data/personal-data.ts'
import type { Span } from './credential-spans.ts'
import type { Detection } from './detection.ts'
import { GENERIC_SECRETS, NAMES_OF_SECRETS } from './named-secrets.ts'
import { KEY_BEGINNINGS, KEY_FORMATS, NAMED_SECRETS } from './secret-kinds.ts'

interface SecretKind {
  readonly kind: string
  readonly severity: Detection['severity']
  /** Global; starts at a boundary, so that a long run of letters is scanned once. */
  readonly pattern: RegExp
  /** Members of the list that the group `secret` is. */
  readonly within?: RegExp
  /** Returns the end of the secret; 0 for none. Default: the end of the match. */
  readonly endOf?: (text: string, start: number, end: number) => number
}

const SEVERE = 'critical'

const BY_FORM: readonly SecretKind[] = KEY_FORMATS.map(({ kind, form }) => ({
  kind,
  severity: SEVERE,
  pattern: new RegExp(`(?<![A-Za-z0-9_])(?:${form})(?![A-Za-z0-9_])`, 'g'),
}))
const BY_NAME: readonly SecretKind[] = NAMED_SECRETS.map(({ kind, form }) => ({
  kind,
  severity: SEVERE,
  pattern: new RegExp(`(?<![A-Za-z0-9])${form}`, 'gid'),
}))

const WITHOUT_FORM: readonly SecretKind[] = [
  ...BY_NAME,
  {
    kind: 'private_key',
    severity: 'critical',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g,
    endOf: endOfPrivateKey,
  },
  {
    kind: 'jwt',
    severity: 'high',
    pattern: /(?<![\w.-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}/g,
    endOf: (text, start, end) => (hasJwtHeader(text.slice(start, end)) ? end : 0),
  },
]

const BY_GENERIC_NAME: readonly SecretKind[] = GENERIC_SECRETS.map(
  ({ kind, pattern, within, after, accepts }) => ({
    kind,
    severity: 'high',
    pattern,
    ...(within && { within }),
    endOf: (text, start, matchEnd) => {
      const end = endOfValue(text, start, matchEnd)
      const isSecret =
        accepts(text.slice(start, end)) &&
        (!after || after.test(text.slice(Math.max(0, start - MAX_BEFORE), start)))
      return isSecret ? end : 0
    },
  }),
)

const KINDS = [...BY_FORM, ...WITHOUT_FORM]
// Parts that every kind above contains, so that most texts need no full scan.
const LONG_RUN = 16
const MAX_BEFORE = 300
const BEGINNING = new RegExp(KEY_BEGINNINGS.join('|'))

/**
 * Finds keys and tokens with a distinctive format, and random values after names such as `api_key`.
 * Linear.
 */
export function findSecrets(text: string): Detection[] {
  const found = findKnown(text)
  if (!NAMES_OF_SECRETS.test(text)) return found
  // Secrets with their own format are reported as such, even after a name.
  for (const kind of BY_GENERIC_NAME) found.push(...withoutOverlaps(findAll(text, [kind]), found))
  return found
}

function findKnown(text: string): Detection[] {
  if (!hasLongRun(text))
    return findUrlPasswords(text).map(({ start, end }) =>
      detection('password_in_url', SEVERE, start, end),
    )
  return findAll(text, BEGINNING.test(text) ? KINDS : WITHOUT_FORM)
}

/**
 * Returns true if 16 consecutive units are base64, base64url or a name: testing every 16th
 * suffices.
 */
function hasLongRun(text: string): boolean {
  for (let at = LONG_RUN - 1; at < text.length; at += LONG_RUN) {
    if (!isOfRun(text.charCodeAt(at))) continue
    let start = at
    while (start > 0 && isOfRun(text.charCodeAt(start - 1))) start--
    while (isOfRun(text.charCodeAt(at + 1))) at++
    if (at + 1 - start >= LONG_RUN) return true
  }
  return false
}

/** Returns true for a letter, a digit, or one of `_+/-`. */
const isOfRun = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) ||
  (unit >= 0x41 && unit <= 0x5a) ||
  (unit >= 0x2f && unit <= 0x39) ||
  unit === 0x5f ||
  unit === 0x2b ||
  unit === 0x2d

function findAll(text: string, kinds: readonly SecretKind[]): Detection[] {
  return kinds.flatMap(({ kind, severity, pattern, within, endOf }) => {
    const found: Detection[] = []
    let last = 0
    for (const [start, matchEnd] of spansOf(text, pattern, within)) {
      if (start < last) continue
      const end = endOf ? endOf(text, start, matchEnd) : matchEnd
      if (end === 0) continue
      last = end
      found.push(detection(kind, severity, start, end))
    }
    return found
  })
}

const detection = (
  kind: string,
  severity: Detection['severity'],
  start: number,
  end: number,
): Detection => ({
  detector: `secret.${kind}`,
  category: 'secret',
  severity,
  start,
  end,
  view: 'original',
  reason: `secret:${kind}`,
  replacement: `[REDACTED:${kind}]`,
})

function* spansOf(text: string, pattern: RegExp, within?: RegExp): Generator<Span> {
  for (const { 0: match, index, indices } of text.matchAll(pattern)) {
    const [start, end] = indices?.groups?.['secret'] ?? [index, index + match.length]
    if (!within) yield [start, end]
    else
      for (const [from, to] of spansOf(text.slice(start, end), within))
        yield [start + from, start + to]
  }
}

const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
const MAX_CLOSING = 8

/** Returns the end without the end of a sentence, and without brackets that are open before the value. */
function endOfValue(text: string, start: number, end: number): number {
  let last = end
  for (let n = 0; n < MAX_CLOSING; n++) {
    const sign = text.charAt(last - 1)
    const opening = OPENING[sign]
    const isEnd = opening
      ? depth(text.slice(start, last), opening, sign) < 0 &&
        depth(text.slice(Math.max(0, start - MAX_BEFORE), start), opening, sign) > 0
      : sign === '.' && !/[\w]/.test(text.charAt(last))
    if (!isEnd || last - 1 <= start) break
    last--
  }
  return last
}

/** The number of opening brackets of a text, less that of closing ones. */
const depth = (text: string, opening: string, closing: string): number =>
  text.split(opening).length - text.split(closing).length

const MIN_KEY = 40
const END_MARK = /-----END [A-Z0-9 ]{1,80}-----/y
// Also on one line, and inside of a JSON string, where line breaks are written \n.
const BREAK = String.raw`(?:\\{1,8}[rn]|\s)`
const HEADER = String.raw`[A-Za-z-]{1,20}: [^\r\n\\]{1,100}`
const LINE = '[A-Za-z0-9+/=]'
const TRUNCATED = new RegExp(
  `(?:${BREAK}{0,4}${HEADER})*(?:${BREAK}{0,40}${LINE}{16,})+(?:${BREAK}{1,40}${LINE}{1,15}(?=["'\\\\\r\n]|$))?`,
  'y',
)

/**
 * Returns the end of the block at its END line, or of a truncated one. A header alone is not a key.
 */
function endOfPrivateKey(text: string, _start: number, bodyStart: number): number {
  const mark = text.indexOf('-----', bodyStart)
  END_MARK.lastIndex = mark
  if (mark >= bodyStart + MIN_KEY && END_MARK.test(text)) return END_MARK.lastIndex
  TRUNCATED.lastIndex = bodyStart
  return TRUNCATED.test(text) && TRUNCATED.lastIndex - bodyStart >= MIN_KEY
    ? TRUNCATED.lastIndex
    : 0
}

/** RFC 7515 section 4: the first part is a JSON object that names an algorithm. */
function hasJwtHeader(token: string): boolean {
  try {
    const header: unknown = JSON.parse(
      Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8'),
    )
    return typeof header === 'object' && header !== null && 'alg' in header
  } catch {
    return false
  }
}
